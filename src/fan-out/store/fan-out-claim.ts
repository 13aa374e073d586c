import { ObjectId, type Filter, type WithId } from 'mongodb';
import type { Action, RefId } from '../../domain/action.ts';
import type { Lane } from '../../domain/lane.ts';
import type { Lifts } from '../../domain/relevancy.ts';
import { toStoredAction } from '../../storage/actions/action-document.ts';
import type {
  ActionDocument,
  FanOutDocument,
  FormerAudienceDocument,
  NewClaim,
} from '../../storage/documents/documents.ts';

export type FormerAudience = Readonly<FormerAudienceDocument>;

/** The action that a write with this claim has claimed: none if the action was not due, or is somebody else's. */
export function claimedBy(claim: NewClaim | null, documents: readonly WithId<ActionDocument>[]): Claim[] {
  if (claim === null) return [];
  return documents
    .filter(({ fanOut }) => fanOut.worker === claim.token)
    .map((document) => claimOf(document, claim));
}

/** A worker's claim on one action, valid until the lease ends. Actions claimed together have one token. */
export interface Claim {
  readonly action: Action;
  /** With the action unique to this claim: a later claim by the same worker has another token. */
  readonly token: string;
  /** Unless renewed, others may take the action over after this time. */
  readonly leaseMs: number;
  /** The version that the pass delivers. Lower than the action's own when it completes an interrupted pass. */
  readonly version: number;
  readonly lane: Lane;
  readonly attempts: number;
  /** No pass over the action has finished yet. */
  readonly isFirst: boolean;
  /**
   * An earlier pass, at this version or another, was interrupted: it may have written to feeds without notifying readers. Or
   * the action was hidden and shown again: readers may not have been notified of earlier writes.
   */
  readonly wasCutOff: boolean;
  /** Basis of `wasCutOff`: the number of claims so far that did not end in order, including this one. */
  readonly begun: number;
  /**
   * Feeds are as the last pass left them, but for interactions of these kinds, not before these times. `null`: they may be
   * wrong in any way.
   */
  readonly lifts: Lifts | null;
  /** The withdrawn version whose watchers may not have been notified. `null`: none. */
  readonly unnotifiedVersion: number | null;
  /** Audiences before edits that no pass has processed yet. */
  readonly former: readonly FormerAudience[];
  /** There were more former audiences, which have been dropped. */
  readonly isFormerCut: boolean;
  /** Readers outside of the current audience may still have it. */
  readonly isUnswept: boolean;
  /** Refs added by an edit, for which push or pull is undecided. */
  readonly undecidedRefIds: readonly RefId[];
  /** Where the pass continues: readers up to this id have been served. `null`: at the beginning. */
  readonly afterUserId: string | null;
  readonly delivered: number;
  /** Hosts must be notified of deliveries. */
  readonly recordsHostEvents: boolean;
  /** Audience whose delivery hosts already know; `null`: none. */
  readonly toldAudience: FormerAudience | null;
}

/**
 * An interrupted pass continues from its checkpoint even if the action has changed since: it ends at the version it started
 * with, and a pass for the changes follows. Restarting at every change would never end for an action that keeps changing. A
 * withdrawal ignores checkpoints.
 */
export function claimOf(document: WithId<ActionDocument>, { token, leaseMs }: NewClaim): Claim {
  const {
    version,
    attempts,
    checkpoint,
    unnotifiedVersion,
    begun = 1,
    former,
    sweptRev = 0,
  } = document.fanOut;
  const action = toStoredAction(document);
  const resumed = action.isHidden || action.isDeleted ? undefined : checkpoint;
  return {
    action,
    token,
    leaseMs,
    version: resumed?.version ?? version,
    lane: action.fanOut.lane,
    attempts,
    isFirst: isFirst(document.fanOut, resumed?.version ?? version),
    wasCutOff: begun > 1,
    begun,
    lifts: liftsOf(document.fanOut),
    unnotifiedVersion: unnotifiedVersion ?? null,
    former: former ?? [],
    isFormerCut: document.fanOut.formerCutRev !== undefined,
    isUnswept: sweptRev < action.audienceRev,
    undecidedRefIds: document.undecidedRefIds ?? [],
    afterUserId: resumed?.afterUserId ?? null,
    delivered: resumed?.delivered ?? 0,
    recordsHostEvents: document.fanOut.recordsHostEvents === true,
    toldAudience: document.fanOut.toldAudience ?? null,
  };
}

/** Only after a pass that ended, for changes that were all interactions, and not after one that was interrupted. */
function liftsOf({
  lifts,
  changedVersion,
  begun = 1,
  checkpoint,
  doneAt,
  restUntil,
}: FanOutDocument): Lifts | null {
  const isSettled = (doneAt ?? restUntil) !== undefined && begun === 1 && checkpoint === undefined;
  return isSettled && changedVersion === undefined ? (lifts ?? null) : null;
}

/** Older releases did not record the end of a pass, only the number of deliveries. */
function isFirst({ doneAt, restUntil, delivered }: ActionDocument['fanOut'], version: number): boolean {
  return version === 1 || (doneAt === undefined && restUntil === undefined && delivered === 0);
}

export function ownedBy(claim: Claim): { readonly _id: ObjectId; readonly 'fanOut.worker': string } {
  return { _id: new ObjectId(claim.action.id), 'fanOut.worker': claim.token };
}

/** The same for claims of one batch. */
export function ownedByBatch(claims: readonly [Claim, ...Claim[]]): Filter<ActionDocument> {
  const [first] = claims;
  if (claims.length === 1) return ownedBy(first);
  return { _id: { $in: claims.map(({ action }) => new ObjectId(action.id)) }, 'fanOut.worker': first.token };
}

/** The audience has not changed since the claim. */
export function isSameAudience({ action }: Claim): Filter<ActionDocument> {
  return { audienceRev: action.audienceRev === 0 ? { $exists: false } : action.audienceRev };
}
