import type { ObjectId } from 'mongodb';
import type { FanOutState, Scope } from '../domain/action.ts';
import type { Lane } from '../domain/lane.ts';
import type { ErasureState } from '../domain/erasure.ts';
import type { ModerationKind } from '../domain/moderation.ts';
import type { MuteKind } from '../domain/mute.ts';
import type { InteractionKind } from '../domain/relevancy.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';
import type { UnsentEvents } from './event-documents.ts';

/** How far a pass of the fan-out has come. Void for any other version. */
export interface CheckpointDocument {
  version: number;
  /** Every reader up to and with this id has been served. */
  afterUserId: string;
  delivered: number;
}

export interface FanOutDocument {
  state: FanOutState;
  version: number;
  attempts: number;
  delivered: number;
  error: string | null;
  /** The most urgent of what is pending. Absent when DONE, and in documents from before there were lanes. */
  lane?: Lane;
  /** While a pass runs: the most urgent of what was asked for since it was claimed. */
  nextLane?: Lane;
  /** The version that withdrew the action, until watchers have been notified: at its commit, or else by its pass. */
  untoldVersion?: number;
  /** The version of the last pass that came to its end, while only interactions have changed the action since. */
  deliveredVersion?: number;
  /** The version of the last change that was not an interaction. Absent when DONE. */
  changedVersion?: number;
  /** The `audienceRev` whose former readers are all without it. Absent: 0. */
  sweptRev?: number;
  /** To whom it was addressed before edits whose pass is still to come, so that it can tell who lost it. */
  former?: FormerAudienceDocument[];
  /** When the last pass ended. */
  doneAt?: Date;
  /** Passes that only boost come no earlier. Present between two passes of an action that changes all the time. */
  restUntil?: Date;
  /** Which claim works on it. */
  worker?: string;
  /** IN_PROGRESS: end of the lease. PENDING: not to be claimed before. Absent when DONE. */
  leaseUntil?: Date;
  checkpoint?: CheckpointDocument;
  /** Claims that were taken and have not come to an end in good order. Shown again counts as one: see `moderation.ts`. */
  begun?: number;
  /** Hosts are to be told whom it comes to: until the first pass that came to its end. */
  tellsHosts?: true;
}

/** To whom an action was addressed until an edit. */
export interface FormerAudienceDocument {
  /** The `audienceRev` that it had. */
  rev: number;
  scope: Scope;
  audience: string[];
  mentions: string[];
  recipients: string[];
  refIds: string[];
  pullRefIds: string[];
  /** Absent where there were none. */
  reshares?: ReshareDocument[];
}

/** Who passed an action on, and when the server recorded it. */
export interface ReshareDocument {
  by: string;
  at: Date;
}

/** What is visible of the interactions of an action. */
export interface EngagementDocument {
  comments: number;
  likes: number;
  reshares: number;
  /** How often each reaction was given. Absent, and 0, where it was not. */
  reactions?: Record<string, number>;
  lastInteraction: Date | null;
}

export interface ActionDocument extends UnsentEvents {
  _id: ObjectId;
  actorId: string;
  conducted: Date;
  recorded: Date;
  idempotencyKey?: string;
  scope: Scope;
  audience: string[];
  mentions: string[];
  recipients: string[];
  refs: { id: string; type: string; label: string }[];
  refIds: string[];
  /** Whose names it holds copies of, and of which version: see `name-stamps.ts`. Absent where there are none. */
  names?: string[];
  /**
   * Ids in the descriptor that are in neither `refIds` nor `names`, and people who were named before an edit; of a
   * tombstone, its actor. Absent when there are none. With those two and `audience` it finds everything that has to do with somebody.
   */
  otherIds?: string[];
  descriptor: { type: string; tags: string[]; [field: string]: unknown };
  /** What it has in common with those it is shown with. Absent where its type is shown one by one. */
  groupKey?: string;
  engagement: EngagementDocument;
  /** Raised by every edit. Absent: 1. */
  version?: number;
  /** When it was edited last. */
  editedAt?: Date;
  /** Raised by every edit of whom it is addressed to. Absent: 0. */
  audienceRev?: number;
  /** Whom it concerns, and since when. Absent until an edit changes whom it names. */
  concerned?: { key: string; since?: Date }[];
  /** Refs that an edit added, until a pass has decided whether they are pushed to. */
  undecidedRefIds?: string[];
  /** Absent: it stays, or is deleted already. */
  expiresAt?: Date;
  isHidden: boolean;
  isDeleted: boolean;
  /** Absent where everything is pushed. */
  pullRefIds?: string[];
  /** The newest 100 visible reshares that passed it on, newest first. Absent where there are none. */
  reshares?: ReshareDocument[];
  /** Somebody has interacted with it. Absent until then. */
  isBumped?: boolean;
  latest: Date;
  fanOut: FanOutDocument;
  /** Moderation that is not in the log yet. Written with the change itself, so that no change goes without a record. */
  unlogged?: ModerationDocument[];
}

/** Who did what to an action, when and why. */
export interface ModerationDocument {
  _id: ObjectId;
  actionId: ObjectId;
  /** Present where it was done to an interaction. */
  interactionId?: ObjectId;
  at: Date;
  by: string;
  kind: ModerationKind;
  reason: string | null;
}

export interface InteractionDocument extends UnsentEvents {
  _id: ObjectId;
  actionId: ObjectId;
  key: string;
  actorId: string;
  departmentIds: string[];
  kind: InteractionKind;
  at: Date;
  /** Present once the key names the kind. */
  keyForm?: 2;
  /** The idempotency keys that gave it, where the key does not hold them: the newest 50. */
  replayKeys?: string[];
  text?: string;
  reaction?: string;
  parentId?: ObjectId;
  data?: unknown;
  editedAt?: Date;
  /** Absent: VISIBLE. */
  state?: 'REMOVED' | 'HIDDEN';
  /** When the state last changed. */
  stateAt?: Date;
  /** It was HIDDEN when it was removed, and is again if it is given again. */
  wasHidden?: true;
  /** Of a reshare of what was PUBLIC then: when it was recorded. */
  passedOn?: Date;
  /** Present from a change until its action has been marked. Begins with the time of the change. */
  settling?: ObjectId;
  /** Moderation that is not in the log yet; see `ActionDocument`. */
  unlogged?: ModerationDocument[];
}

export interface NewsfeedItemDocument {
  _id: ObjectId;
  userId: string;
  actionId: ObjectId;
  relevancy: Date;
  reasons: DeliveryReason[];
}

export interface FollowDocument extends UnsentEvents {
  _id: ObjectId;
  followerId: string;
  refId: string;
  active: boolean;
  spans: { since: Date; until?: Date; sinceAction?: ObjectId }[];
  /** While the ref, a member, is being erased: of their follow that it was copied to the pseudonym, and of the copy. */
  isCopied?: true;
  /**
   * Present from the change of the spans until the feed holds what they say and the follower is counted. Begins with the
   * time of the change.
   */
  settling?: ObjectId;
}

/** A new name that is still to be carried to the copies of the old one. */
export interface RenameDocument {
  /** Not to be claimed before: the time of the change, the end of a lease, or of a pause after a failure. */
  due: Date;
  attempts: number;
  /** Which claim works on it. */
  worker?: string;
  error?: string;
}

/** What every document has that gives something its name. */
export interface NamedDocument {
  _id: string;
  /** Raised by every change of the name. */
  version?: number;
  /** The version that has reached all copies. */
  propagated?: number;
  /** Present while the version has not reached all copies. */
  rename?: RenameDocument;
}

/** What the host application says of a member or a ref beside its name. Absent where it says nothing. */
export interface DetailsDocument {
  imageUrl?: string;
  url?: string;
  data?: unknown;
}

export interface MemberDocument extends NamedDocument, DetailsDocument {
  name: string;
  teamId: string | null;
  teamSince: Date | null;
  departmentId: string | null;
  departmentSince: Date | null;
  supervisorId: string | null;
}

export interface RefDocument extends NamedDocument, DetailsDocument {
  /** Absent while the ref is only known from being followed. */
  type?: string;
  label?: string;
  version: number;
  followerCount: number;
  /** Which count from scratch `followerCount` goes back to; absent: none. See `follower-counts.ts`. */
  countEpoch?: string;
  /** Present while the followers are being counted from scratch. */
  isCounting?: true;
  /** Actions that stand on top of its page, the latest pin first. Absent where none ever was. */
  pinned?: ObjectId[];
  /** Some actions of it may not have been pushed to its followers. Stays. */
  isPulled?: boolean;
  /** Its actions are not pushed from then on. Absent when they are. */
  pullSince?: Date;
}

/** Something that a reader mutes; see `domain/mute.ts`. */
export interface MuteDocument {
  kind: MuteKind;
  value: string;
  /** Of a phrase. */
  text?: string;
  until?: Date;
}

/** What is known of a reader and their feed as a whole, in one document: one read tells a request all of it. */
export interface FeedDocument {
  _id: string;
  lastRead?: Date;
  /** Members who are muted without an end; see `feed-mutes.ts`. Absent: none. */
  muted?: string[];
  /** Everything else that is muted, each kind and value once. What has ended may still be there. Absent: nothing. */
  mutes?: MuteDocument[];
  /** Present while a mute has an end: the earliest of them, or the end of the lease of who announces it. */
  muteWakeAt?: Date;
  /** The reader has said something of single items; only then is it looked up. */
  hasMarks?: boolean;
  /** The reader has marked items as unread. */
  hasUnreadMarks?: boolean;
  /** The reader has snoozed items; only then are snoozes laid over the feed. */
  hasSnoozes?: boolean;
  /** The reader may have hidden items that have not been brought over to `itemMarks`. */
  hasHiddenItems?: boolean;
  /** The reader has taken a follow back with its history; only then are follows looked up for entries. */
  checksFollows?: boolean;
  /** Raised whenever the stored feed may disagree with what it should be in more than one entry. */
  rebuildVersion?: number;
  /** Rebuilds that were begun and have not come to an end in good order. */
  rebuildsBegun?: number;
  /** What made the feed due was to tell watchers of it, and has not said that it did: the rebuild is to tell them. */
  isUntold?: boolean;
  /** When the reader last read, to within an eighth of `DORMANT_AFTER`. Absent until the first time. */
  activeAt?: Date;
  /** Deliveries have passed the feed by, since nobody was reading it. Nothing it holds is vouched for until it is rebuilt. */
  isStale?: boolean;
  /** The same, while it is being rebuilt: what skips it from then on makes it stale again. */
  isUnbuilt?: boolean;
  /** Under which choice of a feed model the feed was last made; absent: under the first. */
  epoch?: number;
  /** The stored feed is complete above this position; absent: all the way down. */
  floor?: { relevancy: Date; actionId: ObjectId };
  /** When the last rebuild came to its end; absent: there was none. */
  rebuiltAt?: Date;
  /** Present while the store is to forget what lies at the floor and below: when that may be done. */
  trimAt?: Date;
  /** Present while the feed is to be rebuilt: when that may begin, or the end of the lease of who is at it. */
  rebuildAt?: Date;
  /** While it is rebuilt, the end of the lease: also where it has become due again since. */
  rebuildLease?: Date;
}

/** An item a reader has hidden from their own feed, of before there was `itemMarks`. */
export interface HiddenItemDocument {
  _id: ObjectId;
  userId: string;
  actionId: ObjectId;
}

/** The erasure of a member. Once it is DONE, nothing in it tells who that was. */
export interface ErasureDocument extends UnsentEvents {
  /** A hash of the member's id: anyone who knows the id can prove that it was erased. */
  _id: string;
  state: ErasureState;
  by: string;
  startedAt: Date;
  finishedAt: Date | null;
  step: string | null;
  changed: number;
  /** How often it was taken up since it last came to the end of a round. */
  attempts: number;
  /** When somebody may take it up: at once, for the second look, or when the lease of `worker` is over. Absent when DONE. */
  dueAt?: Date;
  worker?: string;
  memberId?: string;
  names?: string[];
  pseudonym?: string;
}

/** The score of one action in one generation. Written once: a ranking does not change while somebody pages. */
export interface ScoreSlot {
  at: Date;
  score: number;
}

/** The scores of an action in the latest generations, each in the slot that `scores.ts` gives it. `_id` is the action's. */
export interface ScoreDocument {
  _id: ObjectId;
  [slot: `g${number}`]: ScoreSlot;
}

/** How far the making of scores has come. One document. */
export interface RankingDocument {
  _id: 'top';
  /** The latest generation whose scores are all there. */
  generation: Date;
  /** Present while somebody makes the scores of the next one: the end of their lease. */
  leaseUntil?: Date;
}
