import { REQUEST_BUCKETS, type Meters } from '../../../src/telemetry/metrics.ts';

interface WebhookFigures {
  readonly receiver: string;
  readonly isTaken: boolean;
  readonly seconds: number;
}

export function webhookMetrics({ counter, gauge, histogram }: Meters) {
  const seconds = histogram(
    'fanfare_webhook_seconds',
    'Time of one attempt to send an event, by receiver and outcome.',
    REQUEST_BUCKETS,
    'receiver',
    'outcome',
  );
  const givenUp = counter(
    'fanfare_webhook_given_up_total',
    'Events that a receiver has not accepted until the last retry.',
    'receiver',
  );
  const behind = gauge(
    'fanfare_webhook_behind',
    'Events of the log that have not been sent to a receiver yet, by the sending process.',
    { labelNames: ['receiver'] },
  );
  return {
    webhookAttempted: ({ receiver, isTaken, seconds: taken }: WebhookFigures): void =>
      seconds.observe({ receiver, outcome: isTaken ? 'taken' : 'failed' }, taken),
    webhookGivenUp: (receiver: string): void => givenUp.inc({ receiver }),
    /** Number of events a receiver is behind the log; `null`: another process tracks it. */
    webhookBehind: (receiver: string, events: number | null): void => {
      if (events === null) behind.remove({ receiver });
      else behind.set({ receiver }, events);
    },
  };
}
