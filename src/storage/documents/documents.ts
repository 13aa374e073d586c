import type { Beside } from '../../domain/stored-id.ts';
import type { LeaseDocument } from './lease-document.ts';
import type { ObjectId } from 'mongodb';
import type { FanOutState, Scope, Engagement, ReactionCount, ModerationKind } from '../../domain/action.ts';
import type { Lane } from '../../domain/lane.ts';
import type { ErasureState } from '../../domain/erasure.ts';
import type { InteractionKind, Lifts } from '../../domain/relevancy.ts';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';
import type { UnsentEvents } from './event-documents.ts';
import type { Interaction } from '../../domain/interaction.ts';

declare module './declaration.ts' {
  interface Documents {
    readonly publications: PublicationDocument;
    readonly actions: ActionDocument;
    readonly scores: ScoreDocument;
    readonly rankings: RankingDocument;
    readonly moderationLog: ModerationDocument;
    readonly interactions: InteractionDocument;
    readonly erasures: ErasureDocument;
  }
}

/** Progress of a fan-out pass. Invalid for any other version. */
export interface CheckpointDocument {
  version: number;
  /** All readers up to and including this id have been served. */
  afterUserId: string;
  delivered: number;
}

export interface FanOutDocument {
  state: FanOutState;
  version: number;
  attempts: number;
  delivered: number;
  error: string | null;
  /** Most urgent lane of the pending changes. Absent when DONE: nobody claims a fan-out without a lane. */
  lane?: Lane;
  /** During a pass: most urgent lane of the changes since it was claimed. */
  nextLane?: Lane;
  /** Version of the withdrawal, until watchers have been notified by its commit or by its pass. */
  unnotifiedVersion?: number;
  /** Version of the last finished pass, while only interactions have changed the action since. */
  deliveredVersion?: number;
  /** Version of the last change that was not an interaction. Absent when DONE. */
  changedVersion?: number;
  /** Kinds of the interactions since the last pass that ended, with the time of the earliest of each. Absent when DONE. */
  lifts?: Lifts;
  /** During a pass: of those since it was claimed. */
  nextLifts?: Lifts;
  /** The `audienceRev` up to which the action has been removed from former readers. Absent: 0. */
  sweptRev?: number;
  /** Audiences before edits whose pass is still pending, to notify readers who lost the action. */
  former?: FormerAudienceDocument[];
  /** The `audienceRev` of the last former audience that was dropped because they named too many. */
  formerCutRev?: number;
  /** When the last pass ended. */
  doneAt?: Date;
  /** Boost-only passes wait until this time. Present between two passes of an action that keeps changing. */
  restUntil?: Date;
  /** Token of the current claim. */
  worker?: string;
  /** IN_PROGRESS: end of the lease. PENDING: not claimed before this time. Absent when DONE. */
  leaseUntil?: Date;
  checkpoint?: CheckpointDocument;
  /** Number of claims that did not end in order. Showing an action again counts as one: see `moderation.ts`. */
  begun?: number;
  /** Hosts must be notified of deliveries, until the first pass that finished while the action was visible. */
  recordsHostEvents?: true;
  /**
   * Audience before the first audience change that no pass has processed yet: hosts are notified of readers who were added
   * since. Only when events are recorded.
   */
  toldAudience?: FormerAudienceDocument;
  /** Trace of the last change that requested a pass. Absent if it was not traced. */
  trace?: TraceDocument;
}

/** The claim that a write stores on an action that it makes due. */
export interface NewClaim {
  readonly token: string;
  readonly leaseMs: number;
}

/** The trace that later spans belong to. */
export interface TraceDocument {
  /** A W3C Trace Context traceparent. */
  parent: string;
  at: Date;
}

/** Audience of an action before an edit. */
export interface FormerAudienceDocument {
  /** Its `audienceRev`. */
  rev: number;
  scope: Scope;
  audience: string[];
  mentions: string[];
  recipients: string[];
  refIds: string[];
  pullRefIds: string[];
  /** Absent when there were none. */
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
  /** Count per reaction. Absent or 0: never given. */
  reactions?: Record<string, number>;
  lastInteraction: Date | null;
}

/** Maps an actor's idempotency key to the id of its action. */
export interface PublicationDocument {
  /** Hash of actor and key: see `publicationId`. */
  _id: string;
  actionId: ObjectId;
}

export interface ActionDocument extends UnsentEvents, Beside {
  _id: ObjectId;
  /** See `revision.ts`. */
  rev: number;
  actorId: string;
  conducted: Date;
  recorded: Date;
  idempotencyKey?: string;
  scope: Scope;
  audience: string[];
  /** The members that it names in vain, because of a block, as `blockTag` says. They are not notified of it. Absent: nobody. */
  notFor?: string[];
  /** Which ids in it stay without a name, as `blockTag` says: these members blocked the actor. Absent: none. */
  unnamed?: string[];
  mentions: string[];
  recipients: string[];
  refs: { id: string; type: string; label: string }[];
  /** Number of refs that were given, which come first. Absent: exactly those that the descriptor does not name. */
  givenRefs?: number;
  refIds: string[];
  /** Names it copies, with their versions: see `directory-stamps.ts`. Absent when there are none. */
  names?: string[];
  /**
   * Ids in the descriptor that are in neither `refIds` nor `names`, people named before an edit, and the actor of a
   * tombstone. Absent when there are none. Together with those two and `audience` it finds all actions related to a member.
   */
  otherIds?: string[];
  descriptor: { type: string; tags: string[]; [field: string]: unknown };
  /** Group key. Absent if its type is never grouped. */
  groupKey?: string;
  engagement: EngagementDocument;
  /** Incremented by every change of its comments. Absent: 0. */
  commentsVersion?: number;
  /** Incremented by every edit. Absent: 1. */
  version?: number;
  editedAt?: Date;
  /** Incremented by every edit of the audience. Absent: 0. */
  audienceRev?: number;
  /** People it concerns, and since when. Absent: exactly those it names, since publication. */
  concerned?: { key: string; since?: Date }[];
  /** People it concerned before an edit, and until when. Absent when there are none. */
  formerlyConcerned?: { key: string; until: Date }[];
  /** Refs added by an edit, until a pass has decided whether they are pushed. */
  undecidedRefIds?: string[];
  /** Absent: never expires, or already deleted. */
  expiresAt?: Date;
  /**
   * When it is to be published. Until then it counts as deleted, no pass is due, and its other times are the earliest there are,
   * so that it is last in lists. Absent: it is published, or was never to be.
   */
  publishAt?: Date;
  /** When it was published, if that was put off after it had got its id, which is older then. */
  publishedAt?: Date;
  isHidden: boolean;
  /** It is hidden only until somebody has looked at it in the queue of reports. */
  isWithheld?: true;
  /** Number of the last ruling of that queue that was carried out. */
  ruling?: number;
  isDeleted: boolean;
  /** When a moderator showed it, or showed it again. Absent: it was never hidden, or still is. */
  shownAt?: Date;
  /** It was conducted after it was recorded, by the application's clock. Absent: it was not. */
  isAhead?: true;
  /** When it last became news for some whom it names: by an edit of them, or because it was shown. Absent: at publication. */
  namedAt?: Date;
  /** Absent when everything is pushed. */
  pullRefIds?: string[];
  /** The newest 100 visible reshares for followers, newest first. Absent when there are none. */
  reshares?: ReshareDocument[];
  /** Has interactions. Absent until the first one. */
  isBumped?: boolean;
  latest: Date;
  fanOut: FanOutDocument;
  /** Moderation not yet moved to the log. Written with the change itself, so that no change goes unrecorded. */
  unlogged?: ModerationDocument[];
  /** Being offloaded to a file, offloaded, or being restored; see `offloads.ts`. Counts as deleted meanwhile. */
  offload?: { id: string; stage: OffloadStage };
}

/**
 * CLAIMED: invisible, but complete. LEAVING: being removed. OUT: only this tombstone is left. RETURNING: being restored,
 * still invisible.
 */
export type OffloadStage = 'CLAIMED' | 'LEAVING' | 'OUT' | 'RETURNING';

export interface ModerationDocument extends Beside {
  _id: ObjectId;
  actionId: ObjectId;
  /** Present if an interaction was moderated. */
  interactionId?: ObjectId;
  at: Date;
  by: string;
  kind: ModerationKind;
  reason: string | null;
}

export interface InteractionDocument extends UnsentEvents, Beside {
  _id: ObjectId;
  actionId: ObjectId;
  key: string;
  actorId: string;
  departmentIds: string[];
  kind: InteractionKind;
  at: Date;
  /**
   * Since when others can see it, or can again: its place among notifications, never below `at`. Absent: it has been held since
   * it was recorded.
   */
  shownAt?: Date;
  /** Idempotency keys that gave it, when the key does not include them: the newest 50. */
  replayKeys?: string[];
  text?: string;
  reaction?: string;
  parentId?: ObjectId;
  data?: unknown;
  /** Members that the comment mentions and who may see the action. */
  mentions?: string[];
  /** The author of the comment that it replies to, and those it mentions. Absent: nobody. */
  to?: string[];
  /** The one of these who is the author of the comment that it replies to, unless it mentions them. */
  replyTo?: string;
  /** The action's actor. Absent: they did it themselves, or are among `to`. */
  ownerId?: string;
  editedAt?: Date;
  /** Absent: VISIBLE. */
  state?: 'REMOVED' | 'HIDDEN';
  /** Time of the last change of state. */
  stateAt?: Date;
  /** It was HIDDEN when it was removed, and will be again if it is given again. */
  wasHidden?: true;
  /** It is hidden only until somebody has looked at it in the queue of reports. */
  isWithheld?: true;
  /** Number of the last ruling of that queue that was carried out. */
  ruling?: number;
  /** For a reshare of an action that was PUBLIC then: its server time. */
  passedOn?: Date;
  /** The members whose feeds it does not change, as `withoutEffectFor` says. Absent: nobody's. */
  notFor?: string[];
  /** Present from a change until its action has been marked. Starts with the time of the change. */
  settling?: ObjectId;
  /** Moderation not yet moved to the log; see `ActionDocument`. */
  unlogged?: ModerationDocument[];
}

export interface NewsfeedItemDocument {
  /** Made of action and reader. */
  _id: string;
  userId: string;
  actionId: ObjectId;
  relevancy: Date;
  reasons: DeliveryReason[];
}

/** A member's erasure. Once DONE, it does not identify the member. */
export interface ErasureDocument extends UnsentEvents, Beside {
  /** Hash of the member's id: somebody who knows the id can verify that it was erased. */
  _id: string;
  state: ErasureState;
  by: string;
  startedAt: Date;
  finishedAt: Date | null;
  step: string | null;
  changed: number;
  /** The current pass, or the second one. Absent when DONE. */
  pass?: LeaseDocument;
  memberId?: string;
  names?: string[];
  pseudonym?: string;
}

/** Score of one action in one generation. Written once, so that a ranking is stable while somebody pages. */
export interface ScoreSlot {
  at: Date;
  score: number;
  /** Interactions of each kind when it was scored. Absent in documents of earlier versions. */
  counts?: { likes: number; comments: number; reshares: number; reactions: number };
}

/** Scores of an action in the latest generations; `slotOf` says in which slot. `_id` is the action's id. */
export interface ScoreDocument {
  _id: ObjectId;
  [slot: `g${number}`]: ScoreSlot;
}

/** Progress of scoring. A single document. */
export interface RankingDocument {
  _id: 'top';
  generation: Date;
  /** Present while the next generation is being scored. */
  lease?: LeaseDocument;
}

export function toEngagement({ reactions, ...counts }: EngagementDocument): Engagement {
  return { ...counts, reactions: reactionCounts(Object.entries(reactions ?? {})) };
}

export function engagementDocument({ reactions, ...counts }: Engagement): EngagementDocument {
  if (reactions.length === 0) return counts;
  return {
    ...counts,
    reactions: Object.fromEntries(reactions.map(({ reaction, count }) => [reaction, count])),
  };
}

/** Most frequent first; ties in an order that is the same for all readers. */
export function reactionCounts(counts: Iterable<readonly [string, number]>): ReactionCount[] {
  return Array.from(counts, ([reaction, count]) => ({ reaction, count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.reaction < b.reaction ? -1 : 1));
}

export function toInteraction(document: InteractionDocument): Interaction {
  const { _id, actionId, kind, actorId, at } = document;
  return {
    id: _id.toHexString(),
    actionId: actionId.toHexString(),
    kind,
    actorId,
    at,
    editedAt: document.editedAt ?? null,
    text: document.text ?? null,
    reaction: document.reaction ?? null,
    parentId: document.parentId?.toHexString() ?? null,
    data: document.data ?? null,
    state: document.state ?? 'VISIBLE',
    passedOn: document.passedOn ?? null,
    to: document.to ?? [],
  };
}
