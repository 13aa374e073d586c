import type { ActionId, Scope, UserId } from './action.ts';
import type { InteractionId } from './interaction.ts';
import type { DeliveryReason } from './newsfeed-item.ts';
import type { InteractionKind } from './relevancy.ts';
import { tenantOf, type Tenant } from './stored-id.ts';
import { encodeActionId, encodeInteractionId, encodeReportId } from './node-ids.ts';

export const HOST_EVENT_TYPES = [
  'action.published',
  'action.updated',
  'action.hidden',
  'action.unhidden',
  'action.deleted',
  'item.delivered',
  'interaction.recorded',
  'interaction.removed',
  'report.created',
  'report.resolved',
  'follow.opened',
  'follow.closed',
  'digest.due',
  'member.erased',
  'fanout.failed',
] as const;
export type HostEventType = (typeof HOST_EVENT_TYPES)[number];

/** A reader to whom an action was delivered, and the reasons. */
export interface DeliveredReader {
  readonly memberId: UserId;
  readonly reasons: readonly DeliveryReason[];
}

export interface UnreadFacts {
  readonly count: number;
  /** `false`: the number is a lower bound. */
  readonly isExact: boolean;
}

/** Subject of an event. The type of the event decides which fields are set. */
export interface HostEventFacts {
  readonly actionId?: ActionId;
  readonly actorId?: UserId;
  readonly descriptorType?: string;
  readonly scope?: Scope;
  readonly readers?: readonly DeliveredReader[];
  readonly interactionId?: InteractionId;
  readonly kind?: InteractionKind;
  readonly reaction?: string;
  /** What members have reported, whose content it is (`actorId`), and what became of it. */
  readonly reportId?: string;
  readonly reportState?: string;
  readonly followerId?: UserId;
  readonly refId?: string;
  /** The member to remind, and the number of unread items. */
  readonly memberId?: UserId;
  readonly unread?: UnreadFacts;
  /** Identifies an erasure without naming the member. */
  readonly erasureKey?: string;
}

/** An event as the host application receives it. */
export interface HostEvent {
  /** Stable over all deliveries and channels of the same event. */
  readonly id: string;
  readonly type: HostEventType;
  readonly at: Date;
  /** `null` without tenants. */
  readonly tenant: Tenant | null;
  readonly facts: HostEventFacts;
}

/** An event whose facts say whose it is. */
export function hostEventOf(event: Omit<HostEvent, 'tenant'>): HostEvent {
  return { ...event, tenant: tenantOfFacts(event.facts) };
}

export interface NumberedHostEvent extends HostEvent {
  readonly seq: number;
}

/** Tenant that owns the subject of an event; `null` without tenants or when the facts do not name one. */
export function tenantOfFacts({ actorId, followerId, memberId }: HostEventFacts): Tenant | null {
  const named = actorId ?? followerId ?? memberId;
  return named === undefined ? null : tenantOf(named);
}

export const MAX_READERS_PER_EVENT = 1_000;
/** Maximum readers named in the events of one page, to bound the size of an answer. */
export const MAX_READERS_PER_PAGE = 50_000;

export interface HostEventView {
  readonly id: string;
  readonly type: HostEventType;
  readonly at: Date;
  /** `null` without tenants. */
  readonly tenant: Tenant | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * A host event as delivered: ids in the form the API uses, and no text that anybody wrote.
 * @param erasedMember the member behind the event's erasure key, while still known.
 */
export function hostEventView(
  { id, type, at, tenant, facts }: HostEvent,
  erasedMember: (erasureKey: string) => UserId | null,
): HostEventView {
  const { actionId, interactionId, descriptorType, erasureKey, reportId, reportState, ...rest } = facts;
  const data = {
    ...(actionId === undefined ? {} : { actionId: encodeActionId(actionId) }),
    ...(interactionId === undefined ? {} : { interactionId: encodeInteractionId(interactionId) }),
    ...(descriptorType === undefined ? {} : { type: descriptorType }),
    ...(reportId === undefined ? {} : { reportId: encodeReportId(reportId), state: reportState }),
    ...rest,
    ...(type === 'interaction.recorded' || type === 'interaction.removed'
      ? { reaction: rest.reaction ?? null }
      : {}),
    ...(erasureKey === undefined ? {} : { key: erasureKey, memberId: erasedMember(erasureKey) }),
  };
  return { id, type, at, tenant, data };
}
