import type { ActionId } from './action.ts';
import type { HostEventType, HostEventView } from './host-event.ts';
import { withoutTenantIn, type Tenant } from './stored-id.ts';
import { createHmac } from 'node:crypto';

/** Secrets are this prefix followed by the key in Base64. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
export const MIN_KEY_BYTES = 24;
export const MAX_KEY_BYTES = 64;

/** The key of a secret such as `whsec_…`; `null` when the secret is malformed or its key too short or too long. */
export function webhookKey(secret: string): Uint8Array | null {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : null;
}

/**
 * Signs per the Standard Webhooks specification, once per key: a receiver that knows any of the keys accepts the message.
 */
export function signatureHeaders(
  keys: readonly Uint8Array[],
  message: { readonly id: string; readonly sentAt: Date; readonly body: string },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(message.sentAt.getTime() / 1_000));
  const signed = `${message.id}.${timestamp}.${message.body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

export interface WebhookReceiver {
  readonly url: string;
  /** Signing keys as bytes. Each event is signed with all of them, so that keys can be rotated one at a time. */
  readonly keys: readonly Uint8Array[];
  /** `null`: all event types. */
  readonly types: readonly HostEventType[] | null;
  /** Limits the receiver to one tenant's events; `null`: events of all tenants. */
  readonly tenant: Tenant | null;
  /** Allows private network addresses and plain HTTP. */
  readonly allowPrivateAddress: boolean;
}

/** Why the receiver is not to be sent the event, as it is configured; `null`: it is. */
export function refusalOf(
  { types, tenant }: { readonly types: readonly HostEventType[] | null; readonly tenant: Tenant | null },
  event: { readonly type: HostEventType; readonly tenant: Tenant | null },
): string | null {
  if (types !== null && !types.includes(event.type))
    return `The receiver is no longer configured for events of the type ${event.type}`;
  if (tenant !== null && tenant !== event.tenant)
    return 'The receiver is no longer configured for events of this tenant';
  return null;
}

/** Those of the settings, and for a while those of former settings. */
export const MAX_LISTED_RECEIVERS = 100;

export type WebhookState = 'RETRYING' | 'FAILED';

/** An event that a receiver has not accepted yet. Events accepted at the first attempt leave no record. */
export interface WebhookDelivery {
  readonly id: string;
  readonly url: string;
  readonly eventId: string;
  /** Position of the event in the log of all events. */
  readonly seq: number;
  readonly type: HostEventType;
  /** Later events of the same action wait for this one. */
  readonly actionId: ActionId | null;
  readonly state: WebhookState;
  readonly attempts: number;
  /** Error of the last attempt; `null` before the first one. */
  readonly error: string | null;
  /** `null` once FAILED. */
  readonly nextAttemptAt: Date | null;
  /** Time of the first attempt. */
  readonly triedSince: Date;
}

/** Time after which a receiver that no process has in its settings counts as removed: workers restart one after the other. */
export const RECEIVER_REMOVED_AFTER_MS = 60_000;
export const RECEIVER_REMOVED = 'The receiver is no longer configured';

const FIRST_DELAY_MS = 5_000;
const FACTOR = 3;
const MAX_DELAY_MS = 3_600_000;

/**
 * Delay after a number of failed attempts: 5 s, 15 s, 45 s and so on up to an hour, shortened by a random share of up to
 * half so that retries spread out.
 * @param random from 0 to 1.
 */
export function retryDelayMs(attempts: number, random: number): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * FACTOR ** Math.max(0, attempts - 1));
  return Math.round(full * (1 - random / 2));
}

/** Longest delay that a receiver can request. */
export const MAX_RETRY_AFTER_MS = MAX_DELAY_MS;

/** The request body, per the Standard Webhooks specification. */
export interface WebhookPayload {
  /** Event id, as in the header `webhook-id`. */
  readonly id: string;
  readonly type: HostEventType;
  /** Time of the event, ISO 8601. */
  readonly timestamp: string;
  readonly tenant?: Tenant;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Ids in the host application's form; the tenant is a separate field. */
export function webhookPayload({ id, type, at, tenant, data }: HostEventView): WebhookPayload {
  const what = { id, type, timestamp: at.toISOString() };
  return tenant === null ? { ...what, data } : { ...what, tenant, data: withoutTenantIn(tenant, data) };
}
