import { duration, whole } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting } = settingsOf('Live');

export const LIVE_SETTINGS = {
  LIVE_WINDOW: setting(
    '5m',
    duration('1s', '24h'),
    'How long a disconnected watcher can resume without missing events.',
    'live.windowMs',
  ),
  LIVE_EVENTS: setting('1000', whole(1, 100_000), 'Events kept per reader for resuming.', 'live.maxEvents'),
  LIVE_BUFFER: setting(
    '1000',
    whole(1, 100_000),
    'Unsent events of a slow watcher after which it must resync.',
    'live.maxBufferedEvents',
  ),
  SUBSCRIPTIONS_PER_CONNECTION: setting(
    '20',
    whole(1, 10_000),
    'Maximum number of subscriptions on one socket.',
    'live.maxSubscriptionsPerConnection',
  ),
  SUBSCRIPTIONS_PER_USER: setting(
    '100',
    whole(1, 100_000),
    'Maximum number of subscriptions of one user in one process.',
    'live.maxSubscriptionsPerUser',
  ),
} as const;
