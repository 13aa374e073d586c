import type { ActionId } from '../../../src/domain/action.ts';
import type { HostEventType, HostEventView } from '../../../src/domain/host-event.ts';
import { withoutTenantIn, type Tenant } from '../../../src/domain/stored-id.ts';

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

/** Upper bound on listed receivers: those of the settings, and for a while those of former settings. */
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
