import { duration, whole } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting } = settingsOf('Fan-out');

export const FAN_OUT_SETTINGS = {
  FAN_OUT_CHUNK: setting('1000', whole(1, 20_000), 'Readers written to at once.', 'fanOut.chunkSize'),
  FAN_OUT_LEASE: setting(
    '30s',
    duration('1s', '1h'),
    'Lease of a worker on an action. If it is not renewed for this long, another worker takes the action over.',
    'fanOut.leaseMs',
  ),
  FAN_OUT_ATTEMPTS: setting(
    '5',
    whole(1, 100),
    'Failed attempts after which a fan-out is FAILED.',
    'fanOut.maxAttempts',
  ),
  WORKER_CONCURRENCY: setting(
    '16',
    whole(1, 64),
    'Actions of one lane that a worker fans out concurrently, with up to twelve chunks of readers at a time. Up to 64 small ones that are delivered together count as one.',
    'fanOut.concurrency',
  ),
  POLL_INTERVAL: setting(
    '1s',
    duration('10ms', '1m'),
    'How often an idle worker looks for work without a wake-up.',
    'fanOut.pollMs',
  ),
} as const;
