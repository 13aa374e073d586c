import type { EndSignal } from '../lib/closer.ts';
import type { Action, ActionId, UserId } from '../domain/action.ts';
import type { Interaction, InteractionId } from '../domain/interaction.ts';
import type { InteractionKind } from '../domain/relevancy.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { ListName } from '../domain/item-states.ts';
import type { DeliveryReason, NewsfeedItem } from '../domain/newsfeed-item.ts';
import type { ReaderSession } from '../feed/session/reader-session.ts';

/** Unvalidated input. Every service validates it completely and reports all faults at once. */
export interface PublishActionInput {
  readonly idempotencyKey?: string | null | undefined;
  readonly actorId?: string | null | undefined;
  readonly conducted?: Date | null | undefined;
  readonly expiresAt?: Date | null | undefined;
  readonly publishAt?: Date | null | undefined;
  readonly scope?: string | null | undefined;
  readonly recipients?: readonly string[] | null | undefined;
  readonly mentions?: readonly string[] | null | undefined;
  readonly refs?: readonly RefInput[] | null | undefined;
  /** One property, named as in the API: `{ applicationRating: {…} }`. */
  readonly descriptor: object;
}

/** Given fields replace, absent ones stay. `null` removes the expiry, and is rejected for other fields. */
export interface UpdateActionInput {
  readonly descriptor?: object | null | undefined;
  readonly refs?: readonly RefInput[] | null | undefined;
  readonly mentions?: readonly string[] | null | undefined;
  readonly scope?: string | null | undefined;
  readonly recipients?: readonly string[] | null | undefined;
  readonly expiresAt?: Date | null | undefined;
  readonly publishAt?: Date | null | undefined;
}

/** Application data beside a name. Absent: none. */
export interface DetailsInput {
  readonly imageUrl?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly data?: unknown;
}

/** Details are accepted where refs are described, and rejected elsewhere. */
export interface RefInput extends DetailsInput {
  readonly id: string;
  readonly type: string;
  readonly label: string;
}

export interface MemberInput extends DetailsInput {
  readonly memberId: string;
  readonly name: string;
  readonly teamId?: string | null | undefined;
  readonly departmentId?: string | null | undefined;
  readonly supervisorId?: string | null | undefined;
  /** Where mails go. */
  readonly email?: string | null | undefined;
  /** The language and time zone of mails. */
  readonly locale?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
}

export interface RecordInteractionInput {
  readonly actionId: ActionId;
  readonly kind: string;
  readonly actorId?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
  readonly at?: Date | null | undefined;
  /** For comments. */
  readonly text?: string | null | undefined;
  /** For the kind REACTION. */
  readonly reaction?: string | null | undefined;
  /** For a reply: the parent comment. */
  readonly parentId?: InteractionId | null | undefined;
  /** Ids of members that a comment mentions. */
  readonly mentions?: readonly string[] | null | undefined;
  readonly data?: unknown;
}

/** Exactly one of them. */
export interface RemoveInteractionInput {
  readonly id?: InteractionId | null | undefined;
  readonly own?: OwnInteraction | null | undefined;
}

export interface OwnInteraction {
  readonly actionId: ActionId;
  readonly kind: InteractionKind;
  readonly reaction?: string | null | undefined;
}

export interface ChangedInteraction {
  readonly interaction: Interaction;
  readonly action: Action;
  /** True if the change had already been made. */
  readonly isReplay: boolean;
}

export interface InteractionListArgs extends PageArgs {
  /** Absent: all. */
  readonly kinds?: readonly InteractionKind[] | null | undefined;
  /** Replies to this comment; `null`: only top-level ones; absent: both. */
  readonly parentId?: InteractionId | null | undefined;
}

/** Exactly one of them. */
export interface MuteTargetInput {
  readonly memberId?: string | null | undefined;
  readonly refId?: string | null | undefined;
  readonly type?: string | null | undefined;
  readonly phrase?: string | null | undefined;
}

export interface FollowPairInput {
  readonly followerId: string;
  readonly refId: string;
}

export interface FollowInput {
  readonly followerId: string;
  readonly refId: string;
  /** `null`: all types. Absent: unchanged. */
  readonly types?: readonly string[] | null | undefined;
  /** Absent or `null`: unchanged. */
  readonly isAssigned?: boolean | null | undefined;
}

export interface HostEventsArgs extends PageArgs {
  /** Absent: all. */
  readonly types?: readonly string[] | null | undefined;
}

export interface PublishedAction {
  readonly action: Action;
  /** True if the idempotency key was known and this is the action recorded then. */
  readonly isReplay: boolean;
}

export interface PublishOptions {
  /** Deliver in the lane BULK, after everything else, since nobody is waiting. */
  readonly isBulk?: boolean;
}

export type PublishOutcome =
  | { readonly action: Action; readonly isReplay: boolean; readonly error: null }
  | {
      readonly action: null;
      readonly isReplay: false;
      readonly error: { readonly code: ErrorCode; readonly message: string };
    };

export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  /** Upwards: so many entries before a cursor, or the last ones. */
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** Filters available in every list of actions. */
interface CommonFilter {
  readonly types?: readonly string[] | null | undefined;
  readonly actorIds?: readonly string[] | null | undefined;
  /** At least one of them. */
  readonly tags?: readonly string[] | null | undefined;
  readonly since?: Date | null | undefined;
  readonly until?: Date | null | undefined;
  /** Words that are to be in it. */
  readonly text?: string | null | undefined;
}

export interface ActionFilter extends CommonFilter {
  /** A field that its type declares as indexed. */
  readonly descriptor?: { readonly field: string; readonly value: string } | null | undefined;
}

/** With a list: items in that state instead of the feed. At most one of them. */
export interface FeedFilter
  extends CommonFilter, Partial<Readonly<Record<ListName, boolean | null | undefined>>> {
  readonly refId?: string | null | undefined;
  readonly unreadOnly?: boolean | null | undefined;
  /** At least one of them. */
  readonly reasons?: readonly DeliveryReason[] | null | undefined;
  readonly not?: FeedFilterExclusion | null | undefined;
}

/** None of all these. */
export interface FeedFilterExclusion {
  readonly types?: readonly string[] | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly actorIds?: readonly string[] | null | undefined;
  readonly refIds?: readonly string[] | null | undefined;
  readonly reasons?: readonly DeliveryReason[] | null | undefined;
}

/** Orders of feeds. Features add theirs. */
export interface FeedOrders {
  readonly RELEVANCY: true;
  readonly RECENT: true;
}
export type FeedOrder = keyof FeedOrders;
/** Orders that only a view of the configuration can have. Features add theirs. */
export interface ViewOrders {
  readonly SOURCE: true;
}
export type ListOrder = FeedOrder | keyof ViewOrders;
export type FeedState = 'READY' | 'REBUILDING';

/** One page of a connection. */
export interface Page<T> {
  /** In the order of the list, also if it was read upwards. */
  readonly edges: readonly { readonly cursor: string; readonly node: T }[];
  /** Whether another visible node follows, or precedes a page that was read upwards. Exact. */
  readonly hasMore: boolean;
  /** From where the next page goes on in the same direction. `null` on an empty page of an empty list. */
  readonly end: string | null;
}

/** Exact up to 1,000; beyond that `count` is 1,000 and `isExact` false. What was found, and inexact, where few of many match. */
export interface Count {
  readonly count: number;
  readonly isExact: boolean;
}

/** A page whose list can be counted by the same read. */
export interface CountedPage<T> extends Page<T> {
  /** Number of visible entries in the whole list, with its filter. */
  readonly countTotal: () => Promise<Count>;
}

export interface FeedPage extends CountedPage<NewsfeedItem> {
  readonly state: FeedState;
  /** See FeedConnection.liveCursor. `null` unless requested. */
  readonly liveCursor: string | null;
  /** Number of unread entries of the list, with its filter, from the same read as the page. */
  readonly countUnread: () => Promise<UnreadCount>;
}

export interface FeedGroup {
  readonly userId: UserId;
  readonly groupKey: string;
  /** The relevancy of its topmost item, and whether that one is unread. */
  readonly relevancy: Date;
  readonly isUnread: boolean;
  /** Loads its first items in feed order until they are enough, or all. */
  readonly load: (isEnough: (items: readonly NewsfeedItem[]) => boolean) => Promise<readonly NewsfeedItem[]>;
  /** Tells the reader's lists of groups apart. */
  readonly list: string;
  /** Equal for equal reads of the list; `null`: by what has been loaded, it depends on more than that. */
  readonly version: () => string | null;
  /** The actors of what has been loaded. */
  readonly actors: () => readonly UserId[];
}

export interface FeedGroupPage extends CountedPage<FeedGroup> {
  readonly state: FeedState;
  /** Number of groups whose topmost item is unread. */
  readonly countUnread: () => Promise<UnreadCount>;
}

/** Exact up to 100; beyond that `count` is 100 and `isExact` false. What was found, and inexact, where few of many match. */
export interface UnreadCount {
  readonly count: number;
  readonly isExact: boolean;
}

export interface FirstUnread {
  /** Passed as `after` in relevancy order, it gives a page that starts with the item. */
  readonly cursor: string;
  readonly item: NewsfeedItem;
  /** `false` if more is unread than was examined: then it is the oldest of the newest 1,000. */
  readonly isExact: boolean;
}

/** A piece of an export: a fact, or some entries of a list. Pieces of one list are consecutive. */
export type ExportPart =
  | { readonly section: string; readonly value: unknown }
  | { readonly section: string; readonly entries: readonly unknown[] };

/** Events for a watcher of a feed, after the rules. */
export type FeedEvent =
  | { readonly kind: 'ready'; readonly cursor: string }
  | {
      readonly kind: 'added' | 'updated';
      readonly cursor: string;
      /**
       * Its action is an object of its own for each read of the action. All readers with the same object requested it before
       * that read began, so what is rendered of the action for one of them is valid for all.
       */
      readonly item: NewsfeedItem;
      /** The data the item was decided with; its other fields are rendered with it, too. */
      readonly session: ReaderSession;
    }
  | {
      readonly kind: 'removed';
      readonly cursor: string;
      readonly userId: UserId;
      readonly actionId: ActionId;
    }
  | { readonly kind: 'unread'; readonly cursor: string; readonly unread: UnreadCount }
  | { readonly kind: 'resync'; readonly cursor: string; readonly reason: string };

/** Events for a watcher of a slice, after the rules. Objects of actions are as in `FeedEvent`. */
export type SliceEvent =
  | { readonly kind: 'ready'; readonly cursor: string }
  | {
      readonly kind: 'added' | 'updated';
      readonly cursor: string;
      readonly action: Action;
      readonly session: ReaderSession;
    }
  | { readonly kind: 'removed'; readonly cursor: string; readonly actionId: ActionId }
  | { readonly kind: 'resync'; readonly cursor: string; readonly reason: string };

/** Events for a watcher of an action and its interactions, after the rules. The object of an interaction is as that of an action. */
export type ThreadEvent =
  | { readonly kind: 'ready'; readonly cursor: string }
  | {
      readonly kind: 'changed';
      readonly cursor: string;
      readonly action: Action;
      readonly session: ReaderSession;
    }
  | {
      readonly kind: 'added' | 'updated';
      readonly cursor: string;
      readonly interaction: Interaction;
      readonly session: ReaderSession;
    }
  | { readonly kind: 'removed'; readonly cursor: string; readonly interactionId: InteractionId }
  | { readonly kind: 'gone'; readonly cursor: string; readonly actionId: ActionId }
  | { readonly kind: 'resync'; readonly cursor: string; readonly reason: string };

/** An event of any list that is watched and rendered once for many. */
export type SharedEvent = FeedEvent | SliceEvent | ThreadEvent;

/** See the mutation `createTicket`. */
export interface Ticket {
  readonly ticket: string;
  /** It opens streams until this time. */
  readonly expiresAt: Date;
}

/** Where a watcher begins, and when it ends. */
export interface WatchPlace {
  readonly after?: string | null | undefined;
  /** Ends the stream without an error. */
  readonly signal: EndSignal;
}

export interface WatchArgs extends WatchPlace {
  readonly view?: string | null | undefined;
  readonly listId?: string | null | undefined;
  readonly filter?: FeedFilter | null | undefined;
  /** Also report changes of the unread count of the whole view or feed. Costs a count; default false. */
  readonly withUnread?: boolean | undefined;
}
