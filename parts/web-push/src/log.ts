import { event } from '../../../src/telemetry/events.ts';

/** Its messages are tried again for a day. @param fields.service host of a push service. */
export const logPushFailing = event<{ service: string; error: string }>(
  'warn',
  'Push service does not take messages, they are tried again',
);
export const logPushBack = event<{ service: string }>('info', 'Push service takes messages again');
/** They are not sent again. @param fields.service host of a push service. */
export const logPushRefused = event<{ service: string; messages: number; error: string }>(
  'warn',
  'Push service refuses messages for good',
);
export const logPushGivenUp = event<{ service: string; messages: number; error: string }>(
  'warn',
  'Push messages were given up after a day',
);
