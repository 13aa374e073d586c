import type { Meters } from '../../../src/telemetry/metrics.ts';

export function erasureMetrics({ counter }: Meters) {
  const failures = counter(
    'fanfare_erasure_failed_attempts_total',
    'Attempts at an erasure that ended with an error; each is retried.',
  );
  return { erasureAttemptFailed: (): void => failures.inc() };
}
