import { event } from '../../../src/telemetry/events.ts';
import type { Failure } from '../../../src/telemetry/stack-once.ts';

/** Mails are tried again for three days. */
export const logMailFailing = event<{ error: string }>(
  'warn',
  'The mail server takes no mails, they are tried again',
);
export const logMailBack = event<Record<string, never>>('info', 'The mail server takes mails again');
/** It is not sent again. */
export const logMailRefused = event<{ error: string }>('warn', 'The mail server refuses a mail for good');
export const logMailGivenUp = event<{ error: string }>('warn', 'A mail was given up after three days');
/** The mail was sent as the server makes it. */
export const logMailTemplateFailed = event<Failure>('error', "The configuration's template of mails failed");
