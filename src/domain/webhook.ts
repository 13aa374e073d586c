import type { ActionId } from './action.ts';
import type { HostEventType } from './host-event.ts';
import type { HostEventView } from './host-event-data.ts';
import { withoutTenantIn } from './tenant-text.ts';
import type { Tenant } from './tenant.ts';

export interface WebhookReceiver {
  readonly url: string;
  /** Keys of its signatures, as bytes. Each event is signed with all of them, so that they can be exchanged one by one. */
  readonly keys: readonly Uint8Array[];
  /** Null: all. */
  readonly types: readonly HostEventType[] | null;
  /** Whose events it gets; null: everybody's. */
  readonly tenant: Tenant | null;
  /** Whether it may be at an address of a private network, and without TLS. */
  readonly allowPrivateAddress: boolean;
}

export const WEBHOOK_STATES = ['RETRYING', 'FAILED'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** An event that a receiver has not taken yet. What was taken at the first attempt leaves no record. */
export interface WebhookDelivery {
  readonly id: string;
  readonly url: string;
  readonly eventId: string;
  /** Of the event, in the order of all. */
  readonly seq: number;
  readonly type: HostEventType;
  /** Later events of the same action wait for this one. */
  readonly actionId: ActionId | null;
  readonly state: WebhookState;
  readonly attempts: number;
  /** Why the last attempt failed; null: there was none. */
  readonly error: string | null;
  /** Null once it is FAILED. */
  readonly nextAttemptAt: Date | null;
  /** Since when it is being tried. */
  readonly triedSince: Date;
}

const FIRST_DELAY_MS = 5_000;
const FACTOR = 3;
const MAX_DELAY_MS = 3_600_000;

/**
 * How long to wait after so many failed attempts: 5 s, 15 s, 45 s and so on, an hour at most; less by up to half, so that
 * not all come at the same time.
 * @param random from 0 to 1.
 */
export function retryDelayMs(attempts: number, random: number): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * FACTOR ** Math.max(0, attempts - 1));
  return Math.round(full * (1 - random / 2));
}

/** The longest that is waited because a receiver asks for it. */
export const MAX_RETRY_AFTER_MS = MAX_DELAY_MS;

/** What is sent, by the Standard Webhooks specification. */
export interface WebhookPayload {
  /** Of the event, as in the header `webhook-id`. */
  readonly id: string;
  readonly type: HostEventType;
  /** When it happened, as ISO 8601. */
  readonly timestamp: string;
  /** Where tenants are on. */
  readonly tenant?: Tenant;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Ids are as the host application has them, whose they are stands beside. */
export function webhookPayload({ id, type, at, tenant, data }: HostEventView): WebhookPayload {
  const what = { id, type, timestamp: at.toISOString() };
  return tenant === null ? { ...what, data } : { ...what, tenant, data: withoutTenantIn(tenant, data) };
}
