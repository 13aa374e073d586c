import type { Meters } from '../../../src/telemetry/metrics.ts';

/**
 * How an attempt to send a mail ended: `taken`; `refused` for good; `deferred`, to be tried again; `unanswered`, which includes a server
 * that refuses all mails; `empty`, since nothing was left to say; or `given_up`, after three days.
 */
type MailOutcome = 'taken' | 'refused' | 'deferred' | 'unanswered' | 'empty' | 'given_up';

export function mailMetrics({ counter }: Meters) {
  const attempts = counter('fanfare_mails_total', 'Attempts to send a mail, by outcome.', 'outcome');
  return { mailAttempted: (outcome: MailOutcome): void => attempts.inc({ outcome }) };
}
