import { duration } from '../../../src/config/kinds.ts';
import { type ConfigFault, partSettings } from '../../../src/config/part-settings.ts';
import { optional, setting, type SettingValues, type ValuesOf } from '../../../src/config/settings.ts';
import { webhookReceivers } from './receivers.ts';

const SETTINGS = {
  WEBHOOKS: optional(
    webhookReceivers(),
    'Receivers of events, as JSON: `[{"url": "https://app.example/events", "secrets": ["whsec_…"]}]`, or streams of Redis or JetStream: `[{"url": "nats://nats:4222/events"}]`; see events.md.',
    { isSecret: true, shownDefault: 'none' },
  ),
  WEBHOOK_TIMEOUT: setting(
    '10s',
    duration('100ms', '1m'),
    'Timeout of a webhook request, from the DNS look-up to the end of the answer.',
  ),
  WEBHOOK_RETRY_FOR: setting(
    '3d',
    duration('1m', '52w'),
    'How long an event is retried before its delivery is FAILED; at most EVENT_RETENTION.',
  ),
};

type Values = ValuesOf<typeof SETTINGS> & SettingValues;

/** Webhooks need recorded events, and those of a tenant need tenants. */
function webhookFaults(values: Partial<Values>, faults: readonly ConfigFault[]): ConfigFault[] {
  const { WEBHOOKS: receivers = [], TENANT_CLAIM: claim } = values;
  const found = eventFaults(values, faults);
  if (claim === undefined && receivers.some(({ tenant }) => tenant !== null))
    found.push({ name: 'WEBHOOKS', message: 'names a tenant while TENANT_CLAIM is not set' });
  return found;
}

function eventFaults(values: Partial<Values>, faults: readonly ConfigFault[]): ConfigFault[] {
  const { WEBHOOKS: receivers = [], EVENT_RETENTION: retentionMs, WEBHOOK_RETRY_FOR: retryForMs } = values;
  if (receivers.length === 0) return [];
  if (faults.some(({ name }) => name === 'EVENT_RETENTION' || name === 'WEBHOOK_RETRY_FOR')) return [];
  if (retentionMs === undefined)
    return [{ name: 'WEBHOOKS', message: 'is set while EVENT_RETENTION is off, expected only one of these' }];
  if (retryForMs === undefined || retryForMs <= retentionMs) return [];
  return [
    { name: 'WEBHOOK_RETRY_FOR', message: 'is longer than EVENT_RETENTION, expected at most that long' },
  ];
}

export const WEBHOOKS = partSettings({
  group: 'Events',
  settings: SETTINGS,
  of: ({ WEBHOOKS: receivers = [], WEBHOOK_TIMEOUT: timeoutMs, WEBHOOK_RETRY_FOR: retryForMs }) => ({
    receivers,
    timeoutMs,
    retryForMs,
  }),
  faults: webhookFaults,
});
