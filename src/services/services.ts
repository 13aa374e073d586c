import type { EndSignal } from '../lib/ending.ts';
import type { Action, ActionId, FanOutState, RefId, UserId } from '../domain/action.ts';
import type { Erasure } from '../domain/erasure.ts';
import type { HostEventView } from '../domain/host-event-data.ts';
import type { Interaction, InteractionId } from '../domain/interaction.ts';
import type { InteractionKind } from '../domain/relevancy.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Member, Ref } from '../domain/member.ts';
import type { DeliveryReason, NewsfeedItem } from '../domain/newsfeed-item.ts';
import type { Identity } from '../domain/viewer.ts';
import type { ModerationRecord } from '../domain/moderation.ts';
import type { FeedItemExplanation } from '../domain/explanation.ts';
import type { WorkOverview } from './operations/read-work.ts';
import type { ReaderSession } from './session/reader-session.ts';

/** Input as it comes from outside. Every service validates it whole and reports all faults at once. */
export interface PublishActionInput {
  readonly idempotencyKey?: string | null | undefined;
  readonly actorId?: string | null | undefined;
  readonly conducted?: Date | null | undefined;
  readonly expiresAt?: Date | null | undefined;
  readonly scope?: string | null | undefined;
  readonly recipients?: readonly string[] | null | undefined;
  readonly mentions?: readonly string[] | null | undefined;
  readonly refs?: readonly RefInput[] | null | undefined;
  /** One property, named as in the API: `{ applicationRating: {…} }`. */
  readonly descriptor: object;
}

/** What is given replaces, what is absent stays. Null takes the end away, and is refused elsewhere. */
export interface UpdateActionInput {
  readonly descriptor?: object | null | undefined;
  readonly refs?: readonly RefInput[] | null | undefined;
  readonly mentions?: readonly string[] | null | undefined;
  readonly scope?: string | null | undefined;
  readonly recipients?: readonly string[] | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}

/** What the host application says beside a name. Absent: nothing. */
export interface DetailsInput {
  readonly imageUrl?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly data?: unknown;
}

/** Details are taken where refs are described, and refused elsewhere. */
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
}

export interface RecordInteractionInput {
  readonly actionId: ActionId;
  readonly kind: string;
  readonly actorId?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
  readonly at?: Date | null | undefined;
  /** Of a comment. */
  readonly text?: string | null | undefined;
  /** Of a REACTION. */
  readonly reaction?: string | null | undefined;
  /** The comment it replies to. */
  readonly parentId?: InteractionId | null | undefined;
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

/** An interaction after a change, and its action. */
export interface ChangedInteraction {
  readonly interaction: Interaction;
  readonly action: Action;
  /** True when the change had been made before. */
  readonly isReplay: boolean;
}

export interface InteractionListArgs extends PageArgs {
  /** Absent: all. */
  readonly kinds?: readonly InteractionKind[] | null | undefined;
  /** Replies to this comment; null: only what replies to nothing; absent: both. */
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
}

export interface HostEventsArgs extends PageArgs {
  /** Absent: all. */
  readonly types?: readonly string[] | null | undefined;
}

export interface PublishedAction {
  readonly action: Action;
  /** True when the idempotency key was known and this is the action recorded then. */
  readonly isReplay: boolean;
}

export interface PublishOptions {
  /** Nobody waits for them: their delivery comes after everything else. */
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
}

/** What may be asked of an action in any list. */
interface CommonFilter {
  readonly types?: readonly string[] | null | undefined;
  readonly actorIds?: readonly string[] | null | undefined;
  readonly tag?: string | null | undefined;
  /** Any of them. */
  readonly tags?: readonly string[] | null | undefined;
  readonly since?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

export interface ActionFilter extends CommonFilter {
  /** A field that its type declares as indexed. */
  readonly descriptor?: { readonly field: string; readonly value: string } | null | undefined;
}

export interface FeedFilter extends CommonFilter {
  readonly refId?: string | null | undefined;
  readonly unreadOnly?: boolean | null | undefined;
  /** For any of them. */
  readonly reasons?: readonly DeliveryReason[] | null | undefined;
  /** What the reader has archived, instead of the feed. */
  readonly archived?: boolean | null | undefined;
  /** What the reader has snoozed, instead of the feed. */
  readonly snoozed?: boolean | null | undefined;
}

export type FeedOrder = 'RELEVANCY' | 'RECENT' | 'TOP';
export type FeedState = 'READY' | 'REBUILDING';

/** One page of a connection. `hasNextPage` is the truth: a further visible node exists. */
export interface Page<T> {
  readonly edges: readonly { readonly cursor: string; readonly node: T }[];
  readonly hasNextPage: boolean;
  /** Null on an empty page of an empty list. */
  readonly endCursor: string | null;
}

/** Exact up to 1,000; beyond that `count` is 1,000 and `isExact` false. */
export interface Count {
  readonly count: number;
  readonly isExact: boolean;
}

/** A page whose list can be counted, by the same read. */
export interface CountedPage<T> extends Page<T> {
  /** How many visible entries the whole list has, its filter applied. */
  readonly countTotal: () => Promise<Count>;
}

export interface FeedPage extends CountedPage<NewsfeedItem> {
  readonly state: FeedState;
  /** See FeedConnection.liveCursor. Null unless it was asked for. */
  readonly liveCursor: string | null;
  /** How many entries of the list are unread, its filter applied, by the same read as the page. */
  readonly countUnread: () => Promise<UnreadCount>;
}

/** Items of a feed that are shown as one. */
export interface FeedGroup {
  readonly userId: UserId;
  readonly groupKey: string;
  /** Of its topmost item, as is what follows. */
  readonly relevancy: Date;
  readonly isUnread: boolean;
  /** Its first items, in the order of the feed, until they are enough; or all. */
  readonly load: (isEnough: (items: readonly NewsfeedItem[]) => boolean) => Promise<readonly NewsfeedItem[]>;
}

export interface FeedGroupPage extends CountedPage<FeedGroup> {
  readonly state: FeedState;
  /** Of how many groups the topmost item is unread. */
  readonly countUnread: () => Promise<UnreadCount>;
}

/** Exact up to 100; beyond that `count` is 100 and `isExact` false. */
export interface UnreadCount {
  readonly count: number;
  readonly isExact: boolean;
}

/** Where a reader left off. */
export interface FirstUnread {
  /** Given as `after` in the order of relevancy, the page begins with the item. */
  readonly cursor: string;
  readonly item: NewsfeedItem;
  /** False when more is unread than was looked through: then it is the oldest of the newest 1,000. */
  readonly isExact: boolean;
}

/** A piece of an export: a fact, or some entries of a list. Pieces of one list follow on each other. */
export type ExportPart =
  | { readonly section: string; readonly value: unknown }
  | { readonly section: string; readonly entries: readonly unknown[] };

/** What a watcher of a feed is sent, after the rules. */
export type FeedEvent =
  | { readonly kind: 'ready'; readonly cursor: string }
  | {
      readonly kind: 'added' | 'updated';
      readonly cursor: string;
      readonly item: NewsfeedItem;
      /** What the item was decided by is what the rest of it is shown by. */
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

/** See the mutation `createTicket`. */
export interface Ticket {
  readonly ticket: string;
  /** Until then it opens streams. */
  readonly expiresAt: Date;
}

export interface WatchArgs {
  readonly after?: string | null | undefined;
  readonly filter?: FeedFilter | null | undefined;
  /** Also tell when the number of unread entries of the whole feed has changed. Costs a count; default false. */
  readonly withUnread?: boolean | undefined;
  /** Ends the stream without an error. */
  readonly signal: EndSignal;
}

/**
 * The use cases, bound to their dependencies by the composition root. All of them check roles themselves and throw
 * FanfareError with a code of the API; a caller without identity never gets this far.
 */
export interface Services {
  /** The loaders and the profile of one request; never kept longer. */
  openSession(identity: Identity): ReaderSession;
  /** The same for one live event. Shares its loads with other events that are shown in the same moment. */
  openEventSession(identity: Identity): ReaderSession;

  publishAction(identity: Identity, input: PublishActionInput): Promise<PublishedAction>;
  /** At most 500 inputs, each succeeds or fails on its own; outcomes in the order of the inputs. */
  publishActions(
    identity: Identity,
    inputs: readonly PublishActionInput[],
    options?: PublishOptions,
  ): Promise<PublishOutcome[]>;
  /** The actor, service or admin. CONFLICT when `ifVersion` is given and not the version of the action. */
  updateAction(
    session: ReaderSession,
    id: ActionId,
    input: UpdateActionInput,
    ifVersion?: number | null,
  ): Promise<Action>;
  /** Admin: a FAILED fan-out goes back to PENDING. NOT_FOUND, CONFLICT when it has not failed. */
  retryFanOut(identity: Identity, id: ActionId): Promise<Action>;

  /** Boosts the action for the people concerned. NOT_FOUND when the actor may not see it, also where a service records. */
  recordInteraction(session: ReaderSession, input: RecordInteractionInput): Promise<Action>;
  /** The same, with the interaction. */
  addInteraction(session: ReaderSession, input: RecordInteractionInput): Promise<ChangedInteraction>;
  /** The actor, service or admin. Idempotent. */
  removeInteraction(session: ReaderSession, input: RemoveInteractionInput): Promise<ChangedInteraction>;
  /** Admin. Idempotent. */
  hideInteraction(
    session: ReaderSession,
    id: InteractionId,
    reason: string | null | undefined,
  ): Promise<Interaction>;
  unhideInteraction(session: ReaderSession, id: InteractionId): Promise<Interaction>;
  /** The text of a comment. The actor or admin. */
  updateInteraction(session: ReaderSession, id: InteractionId, text: string): Promise<Interaction>;
  /** Null when there is none or the viewer may not see it. */
  getInteraction(session: ReaderSession, id: InteractionId): Promise<Interaction | null>;
  /** Interactions of an action that the viewer may see, newest first. Asked for many actions at once it is one query. */
  listInteractions(
    session: ReaderSession,
    actionId: ActionId,
    args: InteractionListArgs,
  ): Promise<Page<Interaction>>;
  /** Admin: those with a text, newest first. */
  latestInteractions(session: ReaderSession, args: PageArgs): Promise<Page<Interaction>>;
  /** Admin. Idempotent. */
  hideAction(session: ReaderSession, id: ActionId, reason: string | null | undefined): Promise<Action>;
  unhideAction(session: ReaderSession, id: ActionId): Promise<Action>;
  /** Admin or actor. Idempotent. */
  deleteAction(session: ReaderSession, id: ActionId): Promise<void>;
  /** Admin: who did what to which action, newest first. */
  readModerationLog(
    session: ReaderSession,
    args: PageArgs & { readonly actionId?: ActionId | null | undefined },
  ): Promise<Page<ModerationRecord>>;

  /** Service: at most 1000; returns how many were given. */
  upsertMembers(identity: Identity, members: readonly MemberInput[]): Promise<number>;
  upsertRefs(identity: Identity, refs: readonly RefInput[]): Promise<number>;
  /** Service. Reads show the new label at once, copies follow in the background. NOT_FOUND for what nobody knows. */
  renameRef(identity: Identity, refId: RefId, label: string): Promise<Ref>;
  followMany(identity: Identity, pairs: readonly FollowInput[]): Promise<number>;
  /** Service: at most 1000; returns how many were given. */
  unfollowMany(identity: Identity, pairs: readonly FollowPairInput[], keepHistory: boolean): Promise<number>;
  /** Admin and service. At most three to a ref, which the action must carry. */
  pinAction(session: ReaderSession, refId: RefId, actionId: ActionId): Promise<Ref>;
  unpinAction(session: ReaderSession, refId: RefId, actionId: ActionId): Promise<Ref>;
  /** What is pinned to a ref of that the reader may see. */
  readPinned(session: ReaderSession, refId: RefId): Promise<Action[]>;
  follow(session: ReaderSession, refId: string, copyLimit: number | null | undefined): Promise<Ref>;
  /** Ends a follow. Without its history everything that came through it alone goes too. */
  unfollow(session: ReaderSession, refId: string, keepHistory: boolean): Promise<Ref>;
  /** Keeps it out of the reader's feed at once, until then; once more replaces the end. CONFLICT beyond a thousand. */
  addMute(session: ReaderSession, target: MuteTargetInput, until: Date | null | undefined): Promise<void>;
  removeMute(session: ReaderSession, target: MuteTargetInput): Promise<void>;
  /** The same for a member, without an end. */
  mute(session: ReaderSession, memberId: UserId): Promise<void>;
  unmute(session: ReaderSession, memberId: UserId): Promise<void>;
  /** The reader's own feed only. NOT_FOUND when the reader may not see the action. */
  hideFeedItem(session: ReaderSession, id: ActionId): Promise<void>;
  unhideFeedItem(session: ReaderSession, id: ActionId): Promise<void>;
  /** Puts the item away, out of the feed. NOT_FOUND; CONFLICT beyond ten thousand. Gives the item as it is then. */
  archiveFeedItem(session: ReaderSession, id: ActionId): Promise<NewsfeedItem | null>;
  unarchiveFeedItem(session: ReaderSession, id: ActionId): Promise<NewsfeedItem | null>;
  /** Out of the feed until then, at most a year. NOT_FOUND; CONFLICT beyond five hundred. Gives the item as it is then. */
  snoozeFeedItem(session: ReaderSession, id: ActionId, until: Date): Promise<NewsfeedItem | null>;
  unsnoozeFeedItem(session: ReaderSession, id: ActionId): Promise<NewsfeedItem | null>;
  /** What the reader hid and may see now, the newest first. */
  readHiddenItems(session: ReaderSession, args: PageArgs): Promise<CountedPage<Action>>;
  /** At most a hundred. NOT_FOUND, before anything is written, when the reader may not see one of them. */
  markItemsRead(session: ReaderSession, ids: readonly ActionId[]): Promise<void>;
  /** The same; CONFLICT beyond a thousand that are marked as unread. */
  markItemsUnread(session: ReaderSession, ids: readonly ActionId[]): Promise<void>;
  following(session: ReaderSession, args: PageArgs): Promise<Page<Ref>>;
  /** Monotonic: never moves backwards. */
  markFeedRead(session: ReaderSession, upTo: Date): Promise<void>;

  /** Admin: makes a member's stored feed due for a rebuild. */
  rebuildFeed(identity: Identity, memberId: UserId): Promise<FeedState>;
  /** Admin: the same for everybody. Gives how many feeds have been made due so far. */
  rebuildFeeds(identity: Identity): AsyncIterable<number>;
  readFeed(
    session: ReaderSession,
    args: PageArgs & {
      readonly filter?: FeedFilter | null | undefined;
      readonly order?: FeedOrder | null | undefined;
      /** The count will be asked for: then it is read together with the page. */
      readonly withUnread?: boolean | undefined;
      /** The place in the live log before the read will be asked for. */
      readonly withLiveCursor?: boolean | undefined;
    },
  ): Promise<FeedPage>;
  /** The same in groups: each item is in exactly one, which stands where its topmost item stands. */
  readFeedGroups(
    session: ReaderSession,
    args: PageArgs & { readonly filter?: FeedFilter | null | undefined },
  ): Promise<FeedGroupPage>;
  /** Null when nothing of it is in the viewer's feed. */
  getFeedGroup(session: ReaderSession, groupKey: string): Promise<FeedGroup | null>;
  countUnread(session: ReaderSession): Promise<UnreadCount>;
  /** The oldest unread item; null when everything has been read. */
  findFirstUnread(session: ReaderSession): Promise<FirstUnread | null>;
  readSlice(
    session: ReaderSession,
    refId: RefId,
    args: PageArgs & { readonly filter?: ActionFilter | null | undefined },
  ): Promise<CountedPage<Action>>;
  /** Admin and service. Newest first. */
  listActions(
    session: ReaderSession,
    args: PageArgs & {
      readonly fanOutState?: FanOutState | null | undefined;
      readonly includeHidden?: boolean | null | undefined;
      readonly filter?: ActionFilter | null | undefined;
    },
  ): Promise<CountedPage<Action>>;
  /** Keeps the action in the reader's bookmarks. NOT_FOUND when the reader may not see it. CONFLICT beyond ten thousand. */
  bookmark(session: ReaderSession, id: ActionId): Promise<Action>;
  unbookmark(session: ReaderSession, id: ActionId): Promise<Action>;
  /** The newest first; only what the reader may see now. */
  readBookmarks(session: ReaderSession, args: PageArgs): Promise<CountedPage<Action>>;
  /** Null when there is none or the viewer may not see it; the two cannot be told apart. */
  getAction(session: ReaderSession, id: ActionId): Promise<Action | null>;
  getMember(session: ReaderSession, userId: UserId): Promise<Member | null>;
  /** The same for an id from outside. BAD_USER_INPUT for what can be no id. */
  readMember(session: ReaderSession, memberId: UserId): Promise<Member | null>;
  /** Null when nobody has described it. */
  readRef(session: ReaderSession, refId: RefId): Promise<Ref | null>;
  /** Also one that is only known from being followed. */
  getRef(session: ReaderSession, refId: RefId): Promise<Ref | null>;
  /** Admin and service: who follows a ref now, in order of id. */
  readFollowers(
    session: ReaderSession,
    refId: RefId,
    args: PageArgs,
  ): Promise<Page<{ readonly userId: UserId }>>;
  /** The viewer's own entry for this action, after the rules. */
  getNewsfeedItem(session: ReaderSession, id: ActionId): Promise<NewsfeedItem | null>;
  /** Why an action is or is not in the viewer's feed, for admins in any. NOT_FOUND wherever `getAction` gives null. */
  explainFeedItem(
    session: ReaderSession,
    id: ActionId,
    memberId: UserId | null | undefined,
  ): Promise<FeedItemExplanation>;

  /** Admin. True when nothing names the member any more, false while that goes on in the background. */
  eraseMember(identity: Identity, memberId: UserId): Promise<boolean>;
  /** Admin. Null when there was none. */
  readErasure(identity: Identity, memberId: UserId): Promise<Erasure | null>;
  /** Admin: the latest that was asked for first. */
  readHostEvents(identity: Identity, args: HostEventsArgs): Promise<Page<HostEventView>>;
  listErasures(identity: Identity, args: PageArgs): Promise<Page<Erasure>>;
  /** Admin: what is under way. */
  readWork(identity: Identity): WorkOverview;
  /** Admin, or the member. Piece by piece, in bounded memory. */
  exportMember(session: ReaderSession, memberId: UserId): AsyncIterable<ExportPart>;
  /** The same as one value. CONFLICT when it is too large for an answer. */
  memberExport(session: ReaderSession, memberId: UserId): Promise<Readonly<Record<string, unknown>>>;

  /** For clients that cannot send headers. */
  createTicket(identity: Identity): Promise<Ticket>;
  /** Who a ticket was made for, until their token ends. Rejects with UNAUTHENTICATED. */
  readTicket(ticket: string): Promise<Identity>;

  /** Resolves once nothing published later can be missed. */
  watchFeed(identity: Identity, args: WatchArgs): Promise<AsyncIterable<FeedEvent>>;
}
