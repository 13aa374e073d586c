import type { ActionId, Scope, UserId } from './action.ts';
import type { InteractionId } from './interaction.ts';
import type { DeliveryReason } from './newsfeed-item.ts';
import type { InteractionKind } from './relevancy.ts';
import { tenantOf, type Tenant } from './tenant.ts';

export const HOST_EVENT_TYPES = [
  'action.published',
  'action.updated',
  'action.hidden',
  'action.unhidden',
  'action.deleted',
  'item.delivered',
  'interaction.recorded',
  'interaction.removed',
  'follow.opened',
  'follow.closed',
  'digest.due',
  'member.erased',
  'fanout.failed',
] as const;
export type HostEventType = (typeof HOST_EVENT_TYPES)[number];

/** A reader whom an action came to, and why. */
export interface DeliveredReader {
  readonly memberId: UserId;
  readonly reasons: readonly DeliveryReason[];
}

export interface UnreadFacts {
  readonly count: number;
  /** False: there is more. */
  readonly isExact: boolean;
}

/** What an event is about. Which of these are there goes by its type. */
export interface HostEventFacts {
  readonly actionId?: ActionId;
  readonly actorId?: UserId;
  readonly descriptorType?: string;
  readonly scope?: Scope;
  readonly readers?: readonly DeliveredReader[];
  readonly interactionId?: InteractionId;
  readonly kind?: InteractionKind;
  readonly reaction?: string;
  readonly followerId?: UserId;
  readonly refId?: string;
  /** Who is to be reminded, and of how much. */
  readonly memberId?: UserId;
  readonly unread?: UnreadFacts;
  /** Names an erasure without naming the member. */
  readonly erasureKey?: string;
}

/** Something that happened, as a host application gets it. */
export interface HostEvent {
  /** The same wherever and however often it is sent. */
  readonly id: string;
  readonly type: HostEventType;
  readonly at: Date;
  /** Null where tenants are off. */
  readonly tenant: Tenant | null;
  readonly facts: HostEventFacts;
}

export interface NumberedHostEvent extends HostEvent {
  readonly seq: number;
}

/** Whose the things are that an event is about; null where tenants are off, and where they do not say it. */
export function tenantOfFacts({ actorId, followerId, memberId }: HostEventFacts): Tenant | null {
  const named = actorId ?? followerId ?? memberId;
  return named === undefined ? null : tenantOf(named);
}

export const MAX_READERS_PER_EVENT = 1_000;
