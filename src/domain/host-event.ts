import type { ActionId, Scope, UserId } from './action.ts';
import type { InteractionId } from './interaction.ts';
import type { DeliveryReason } from './newsfeed-item.ts';
import type { InteractionKind } from './relevancy.ts';
import { plainId, tenantOf, type Tenant } from './stored-id.ts';
import { encodeActionId, encodeInteractionId, encodeNotificationId, encodeReportId } from './node-ids.ts';
import type { Channel, NotificationKind } from './notification.ts';

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
  'follow.assigned',
  'follow.closed',
  'digest.due',
  'notification.due',
  'impressions.hourly',
  'webhook.test',
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

/** A notification that a member is notified of, by its key. */
export interface DueNotification {
  readonly key: string;
  readonly kind: NotificationKind;
  /** `null`: it is about no action. */
  readonly actionId: ActionId | null;
  /** The events that the member is notified of, the newest first: interactions, the action, or follows. */
  readonly eventIds: readonly string[];
  readonly channels: readonly Channel[];
}

/** How often actions of a type were shown. */
export interface ShownType {
  readonly type: string;
  readonly count: number;
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
  /** A report: the reported thing, the author of the content (`actorId`), and the outcome. */
  readonly reportId?: string;
  readonly reportState?: string;
  /** Only within the server. */
  readonly followId?: string;
  readonly followerId?: UserId;
  readonly refId?: string;
  /** The member to remind or to notify. */
  readonly memberId?: UserId;
  /** The number of unread items. */
  readonly unread?: UnreadFacts;
  readonly notifications?: readonly DueNotification[];
  /** Identifies an erasure without naming the member. */
  readonly erasureKey?: string;
  /** What the ids of those begin with whom it is about, if it names nobody. Only within the server. */
  readonly beside?: string;
  /** The view in which actions were shown; `null`: in none. */
  readonly view?: string | null;
  /** When the hour began. */
  readonly from?: Date;
  readonly shown?: readonly ShownType[];
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
export function tenantOfFacts({ actorId, followerId, memberId, beside }: HostEventFacts): Tenant | null {
  const named = actorId ?? followerId ?? memberId ?? beside;
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
  const { actionId, interactionId, descriptorType, erasureKey, reportId, reportState, ...others } = facts;
  const { notifications, followId: _follow, beside: _beside, ...rest } = others;
  const data = {
    ...(actionId === undefined ? {} : { actionId: encodeActionId(actionId) }),
    ...(interactionId === undefined ? {} : { interactionId: encodeInteractionId(interactionId) }),
    ...(descriptorType === undefined ? {} : { type: descriptorType }),
    ...(reportId === undefined ? {} : { reportId: encodeReportId(reportId), state: reportState }),
    ...rest,
    ...(notifications === undefined
      ? {}
      : { notifications: notifications.map((one) => notificationView(rest.memberId ?? '', one)) }),
    ...(type === 'interaction.recorded' || type === 'interaction.removed'
      ? { reaction: rest.reaction ?? null }
      : {}),
    ...(erasureKey === undefined ? {} : { key: erasureKey, memberId: erasedMember(erasureKey) }),
  };
  return { id, type, at, tenant, data };
}

function notificationView(memberId: UserId, { key, kind, actionId, eventIds, channels }: DueNotification) {
  const idOf = (id: string): string => {
    // Follows have no global id.
    if (actionId === null) return id;
    return id === actionId ? encodeActionId(id) : encodeInteractionId(id);
  };
  return {
    id: encodeNotificationId(plainId(memberId), key),
    kind,
    actionId: actionId === null ? null : encodeActionId(actionId),
    eventIds: eventIds.map(idOf),
    channels,
  };
}
