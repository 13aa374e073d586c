import { webhookReceivers } from '../webhook-receivers.ts';
import { duration, durationOrOff } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Events');

export const EVENT_SETTINGS = {
  EVENT_RETENTION: setting(
    '7d',
    durationOrOff('1h', '5200w'),
    'How long events for hosts are kept, for hostEvents and webhooks; off: no events are recorded.',
  ),
  DIGEST_AFTER: setting(
    'off',
    durationOrOff('1s', '52w'),
    'How long a member must not have read before `digest.due` is recorded about their deliveries; off: never.',
  ),
  DIGEST_EVERY: setting(
    '1d',
    duration('1s', '52w'),
    'Minimum time between two `digest.due` events for the same member.',
  ),
  NOTIFY_AFTER: setting(
    '0s',
    durationOrOff('0s', '52w'),
    'How long events are gathered before `notification.due` is recorded for a member; off: never.',
  ),
  WEBHOOKS: optional(
    webhookReceivers(),
    'Receivers of events, as JSON: `[{"url": "https://app.example/events", "secrets": ["whsec_…"]}]`; see events.md.',
    { isSecret: true, shownDefault: 'none' },
  ),
  WEBHOOK_TIMEOUT: setting(
    '10s',
    duration('100ms', '1m'),
    'Timeout of a webhook request, from the DNS look-up to the end of the answer.',
    'webhooks.timeoutMs',
  ),
  WEBHOOK_RETRY_FOR: setting(
    '3d',
    duration('1m', '52w'),
    'How long an event is retried before its delivery is FAILED; at most EVENT_RETENTION.',
    'webhooks.retryForMs',
  ),
} as const;
