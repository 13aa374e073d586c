import type { Config } from '../../../src/config/config.ts';
import type { Route } from '../../../src/http/route.ts';
import { MAIL } from './settings.ts';

/** Of pages that end mails. */
export const UNSUBSCRIBE_PATH = '/mail/unsubscribe';
/** Of bounces and complaints. */
const EVENTS_PATH = '/mail/events';

/** None without a mail server; bounces and complaints need a secret, too. */
export function mailRoutes(config: Config): readonly Route[] {
  const mail = config.of(MAIL);
  if (mail === null) return [];
  const { eventKeys } = mail;
  const unsubscribe: Route = {
    path: UNSUBSCRIBE_PATH,
    load: async (http) => (await import('./unsubscribe.ts')).unsubscribing(http),
  };
  if (eventKeys.length === 0) return [unsubscribe];
  return [
    unsubscribe,
    { path: EVENTS_PATH, load: async (http) => (await import('./events.ts')).mailEvents(http, eventKeys) },
  ];
}
