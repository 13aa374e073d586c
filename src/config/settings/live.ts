import { duration, whole } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting } = settingsOf('Live');

export const LIVE_SETTINGS = {
  LIVE_WINDOW: setting('5m', duration('1s', '24h'), 'How long a watcher may be away and miss nothing.'),
  LIVE_EVENTS: setting('1000', whole(1, 100_000), 'Events kept for that, per reader.'),
  LIVE_BUFFER: setting('1000', whole(1, 100_000), 'Unsent events of a slow watcher before it must resync.'),
  SUBSCRIPTIONS_PER_CONNECTION: setting('20', whole(1, 10_000), 'Subscriptions on one socket.'),
  SUBSCRIPTIONS_PER_USER: setting('100', whole(1, 100_000), 'Subscriptions of one user in one process.'),
} as const;
