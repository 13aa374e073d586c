import { webhookReceivers } from '../webhook-receivers.ts';
import { duration, durationOrOff } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Events');

export const EVENT_SETTINGS = {
  EVENT_RETENTION: setting(
    '7d',
    durationOrOff('1h', '5200w'),
    'How long events for hosts are kept, for hostEvents and webhooks; off: none are recorded.',
  ),
  DIGEST_AFTER: setting(
    'off',
    durationOrOff('1s', '52w'),
    'How long somebody has not read when `digest.due` is recorded for what came to them meanwhile; off: never.',
  ),
  DIGEST_EVERY: setting(
    '1d',
    duration('1s', '52w'),
    'Time between two `digest.due` for the same member, at least.',
  ),
  WEBHOOKS: optional(
    webhookReceivers(),
    'Where events are sent to, as JSON: `[{"url": "https://app.example/events", "secrets": ["whsec_…"]}]`; see events.md.',
    { isSecret: true, shownDefault: 'none' },
  ),
  WEBHOOK_TIMEOUT: setting(
    '10s',
    duration('100ms', '1m'),
    'How long a receiver may take to answer, from the look-up of its name to the end of the answer.',
  ),
  WEBHOOK_RETRY_FOR: setting(
    '3d',
    duration('1m', '52w'),
    'How long an event is tried before its delivery is FAILED; at most EVENT_RETENTION.',
  ),
} as const;
