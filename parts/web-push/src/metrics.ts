import type { Meters } from '../../../src/telemetry/metrics.ts';

/**
 * How an attempt to send a push message ended: `taken`; `gone`, which forgets the browser; `refused` by another answer; `unanswered`,
 * which includes requests that could not be made; or `given_up`, after a day.
 */
export type PushOutcome = 'taken' | 'gone' | 'refused' | 'unanswered' | 'given_up';

/** Not by push service: members name them. */
export function pushMetrics({ counter }: Meters) {
  const attempts = counter(
    'fanfare_push_messages_total',
    'Attempts to send a push message, by outcome.',
    'outcome',
  );
  return {
    pushAttempted: (outcome: PushOutcome, messages = 1): void => attempts.inc({ outcome }, messages),
  };
}
