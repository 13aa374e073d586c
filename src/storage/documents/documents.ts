import type { ObjectId } from 'mongodb';
import type { FanOutState, Scope } from '../../domain/action.ts';
import type { Lane } from '../../domain/lane.ts';
import type { ErasureState } from '../../domain/erasure.ts';
import type { ModerationKind } from '../../domain/moderation.ts';
import type { InteractionKind } from '../../domain/relevancy.ts';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';
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
  /** The `audienceRev` of the last one that was forgotten, since they named too many. */
  formerCutRev?: number;
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
  /** Hosts are to be told whom it comes to: until the first pass that came to its end while it could be seen. */
  tellsHosts?: true;
  /**
   * To whom it was addressed before the first change of that which no pass has followed yet: hosts are notified who came to it
   * since. Only where events are recorded.
   */
  toldAudience?: FormerAudienceDocument;
  /** Of the last change that asked for a pass. Absent where that was not traced. */
  trace?: TraceDocument;
}

/** Where spans that come later belong to. */
export interface TraceDocument {
  /** A traceparent of W3C Trace Context. */
  parent: string;
  at: Date;
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

export interface ReshareDocument {
  by: string;
  at: Date;
}

export interface EngagementDocument {
  comments: number;
  likes: number;
  reshares: number;
  /** How often each reaction was given. Absent, and 0, where it was not. */
  reactions?: Record<string, number>;
  lastInteraction: Date | null;
}

/** That an actor has used an idempotency key, and the id of the action that it stands for. */
export interface PublicationDocument {
  /** A hash of actor and key: see `publicationId`. */
  _id: string;
  actionId: ObjectId;
}

export interface ActionDocument extends UnsentEvents {
  _id: ObjectId;
  /** See `revision.ts`. Absent where a release before wrote it. */
  rev?: number;
  /** Of its actor. Absent where tenants are off, as everywhere. */
  tenant?: string;
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
  /** Whom it concerns, and since when. Absent where that is whom it names, and always has been. */
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
  /** It is being taken out to a file, is out, or comes back; see `offloads.ts`. It counts as deleted for so long. */
  offload?: { id: string; stage: OffloadStage };
}

/**
 * CLAIMED: nobody sees it any more, nothing of it is gone. LEAVING: it is being removed. OUT: this is its tombstone.
 * RETURNING: it is being brought back, and nobody sees it yet.
 */
export type OffloadStage = 'CLAIMED' | 'LEAVING' | 'OUT' | 'RETURNING';

export interface ModerationDocument {
  _id: ObjectId;
  actionId: ObjectId;
  /** Present where it was done to an interaction. */
  interactionId?: ObjectId;
  at: Date;
  /** Of who did it. */
  tenant?: string;
  by: string;
  kind: ModerationKind;
  reason: string | null;
}

export interface InteractionDocument extends UnsentEvents {
  _id: ObjectId;
  actionId: ObjectId;
  key: string;
  tenant?: string;
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
  /** Of action and reader. An ObjectId where a release before wrote it. */
  _id: string;
  userId: string;
  actionId: ObjectId;
  relevancy: Date;
  reasons: DeliveryReason[];
}

/** The erasure of a member. Once it is DONE, nothing in it tells who that was. */
export interface ErasureDocument extends UnsentEvents {
  /** A hash of the member's id: anyone who knows the id can prove that it was erased. */
  _id: string;
  state: ErasureState;
  tenant?: string;
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
