import { ObjectId, type Filter, type WithId } from 'mongodb';
import type { Action, RefId } from '../../domain/action.ts';
import type { Lane } from '../../domain/lane.ts';
import { toStoredAction } from '../actions/action-document.ts';
import type { ActionDocument, FormerAudienceDocument } from '../documents/documents.ts';

export type FormerAudience = Readonly<FormerAudienceDocument>;

/** One worker's hold on one action: valid until the lease ends. */
export interface Claim {
  readonly action: Action;
  /** Names this claim alone; a later claim by the same worker has another. */
  readonly token: string;
  /** What the pass delivers. Below the action's own version where it completes a pass that was cut off. */
  readonly version: number;
  readonly lane: Lane;
  readonly attempts: number;
  /** No pass over the action has come to its end yet. */
  readonly isFirst: boolean;
  /**
   * An earlier pass, at this version or another, was cut off: it may have written to feeds and not told their readers.
   * Or the action was hidden and is shown again: readers may not have been notified of what was written before.
   */
  readonly wasCutOff: boolean;
  /** What `wasCutOff` goes by: claims so far that did not end in good order, this one included. */
  readonly begun: number;
  /** The version whose withdrawal nobody is known to have notified watchers of. Null: there is none. */
  readonly untoldVersion: number | null;
  /** To whom the action was addressed before edits that no pass has followed yet. */
  readonly former: readonly FormerAudience[];
  /** There were others, which are not known any more. */
  readonly isFormerCut: boolean;
  /** Some to whom it is not addressed any more may hold it. */
  readonly isUnswept: boolean;
  /** Refs that an edit added, of which nobody has decided whether they are pushed to. */
  readonly undecidedRefIds: readonly RefId[];
  /** Where the pass goes on: readers up to this id have been served. Null: from the beginning. */
  readonly afterUserId: string | null;
  readonly delivered: number;
  /** Hosts are to be told whom it comes to. */
  readonly tellsHosts: boolean;
  /** Of whom hosts know already that it comes to them, otherwise; null: of everybody. */
  readonly toldAudience: FormerAudience | null;
}

/**
 * A pass that was cut off goes on from its checkpoint, also when the action has changed since: it ends at the version it
 * was begun with, and the pass for the changes comes after it. Beginning again at every change would never end for an
 * action that changes all the time. A withdrawal knows no checkpoints.
 */
export function claimOf(document: WithId<ActionDocument>, token: string): Claim {
  const { version, attempts, checkpoint, untoldVersion, begun = 1, former, sweptRev = 0 } = document.fanOut;
  const action = toStoredAction(document);
  const resumed = action.isHidden || action.isDeleted ? undefined : checkpoint;
  return {
    action,
    token,
    version: resumed?.version ?? version,
    lane: action.fanOut.lane,
    attempts,
    isFirst: isFirst(document.fanOut, resumed?.version ?? version),
    wasCutOff: begun > 1,
    begun,
    untoldVersion: untoldVersion ?? null,
    former: former ?? [],
    isFormerCut: document.fanOut.formerCutRev !== undefined,
    isUnswept: sweptRev < action.audienceRev,
    undecidedRefIds: document.undecidedRefIds ?? [],
    afterUserId: resumed?.afterUserId ?? null,
    delivered: resumed?.delivered ?? 0,
    tellsHosts: document.fanOut.tellsHosts === true,
    toldAudience: document.fanOut.toldAudience ?? null,
  };
}

/** A release before noted no end of a pass, only to how many it had delivered. */
function isFirst({ doneAt, restUntil, delivered }: ActionDocument['fanOut'], version: number): boolean {
  return version === 1 || (doneAt === undefined && restUntil === undefined && delivered === 0);
}

export function ownedBy(claim: Claim): { readonly _id: ObjectId; readonly 'fanOut.worker': string } {
  return { _id: new ObjectId(claim.action.id), 'fanOut.worker': claim.token };
}

/** The action is still addressed to whom it was when it was claimed. */
export function isSameAudience({ action }: Claim): Filter<ActionDocument> {
  return { audienceRev: action.audienceRev === 0 ? { $exists: false } : action.audienceRev };
}
