import type { Document } from 'mongodb';
import type { Lane } from '../../domain/lane.ts';
import { traceToKeep } from './fan-out-trace.ts';

/**
 * Minimum time between boost-only passes of one action: a burst of changes becomes a handful of passes, and the first of
 * them does not wait.
 */
export const COALESCE_MS = 250;

/** Upper bound on the time between two passes of an action that keeps changing. */
export const MAX_REST_MS = 2_000;

/**
 * Expression: now, or a short time after the action's last pass if that has just ended. At most that time from now, even if
 * clocks disagreed for once.
 */
export function afterLastPass(now: Date): Document {
  const within = (ms: number): Date => new Date(now.getTime() + ms);
  const doneAt = { $ifNull: ['$fanOut.doneAt', new Date(0)] };
  const apart = { $min: [within(COALESCE_MS), { $add: [doneAt, COALESCE_MS] }] };
  const rested = { $min: [within(MAX_REST_MS), { $ifNull: ['$fanOut.restUntil', new Date(0)] }] };
  return { $max: [now, apart, rested] };
}

/** Expression: the stored audience of an action. */
export const AUDIENCE_NOW = {
  rev: { $ifNull: ['$audienceRev', 0] },
  scope: '$scope',
  audience: '$audience',
  mentions: '$mentions',
  recipients: '$recipients',
  refIds: '$refIds',
  pullRefIds: { $ifNull: ['$pullRefIds', []] },
  reshares: { $ifNull: ['$reshares', []] },
} as const satisfies Document;

/** Fields of an audience change, for notifying hosts of readers who gain the action. */
export function notifiedUntilNow({ isOn }: { readonly isOn: boolean }): Document {
  return isOn ? { 'fanOut.toldAudience': { $ifNull: ['$fanOut.toldAudience', AUDIENCE_NOW] } } : {};
}

export interface PassRequest {
  /** Earliest start of the pass, or an expression for it. An earlier start of a pending pass is kept. */
  readonly notBefore: Date | Document;
  /** Urgency. A more urgent lane of a pending pass is kept. */
  readonly lane: Lane;
  /** Holders keep the action, and only its position may change. Default: feeds may be wrong until the pass. */
  readonly isBoost?: boolean;
}

/**
 * Update pipeline fields that request another pass over an action: increments the version, and makes the action PENDING
 * unless a worker has it, which will notice the new version at its end. Used in the write that makes the change.
 */
export function passRequested({ notBefore, lane, isBoost = false }: PassRequest): Document {
  const isWorkedOn = { $eq: ['$fanOut.state', 'IN_PROGRESS'] };
  const isWaiting = { $eq: ['$fanOut.state', 'PENDING'] };
  return {
    'fanOut.version': { $add: ['$fanOut.version', 1] },
    'fanOut.trace': traceToKeep() ?? '$$REMOVE',
    ...(isBoost
      ? {}
      : {
          'fanOut.changedVersion': { $add: ['$fanOut.version', 1] },
          'fanOut.deliveredVersion': '$$REMOVE',
        }),
    'fanOut.state': { $cond: [isWorkedOn, 'IN_PROGRESS', 'PENDING'] },
    'fanOut.attempts': { $cond: [isWorkedOn, '$fanOut.attempts', 0] },
    // Lane names sort by urgency: see `fan-out-lanes.ts`.
    'fanOut.lane': { $cond: [{ $or: [isWorkedOn, isWaiting] }, { $max: ['$fanOut.lane', lane] }, lane] },
    'fanOut.nextLane': { $cond: [isWorkedOn, { $max: ['$fanOut.nextLane', lane] }, '$$REMOVE'] },
    'fanOut.leaseUntil': {
      $cond: [
        isWorkedOn,
        '$fanOut.leaseUntil',
        { $cond: [isWaiting, { $min: ['$fanOut.leaseUntil', notBefore] }, notBefore] },
      ],
    },
  };
}
