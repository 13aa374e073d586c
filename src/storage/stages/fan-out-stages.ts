import type { Document } from 'mongodb';
import type { Lane } from '../../domain/lane.ts';
import { traceToKeep } from './fan-out-trace.ts';

/**
 * How long passes of one action stay apart that boost what was there already: a burst of changes becomes a handful of
 * passes, and the first of them does not wait.
 */
export const COALESCE_MS = 250;

/** Longest time between two passes of an action that changes all the time. */
export const MAX_REST_MS = 2_000;

/**
 * An expression: now, or a while after the action's last pass if that has just ended. Never later than that while from
 * now, also where clocks were not the same for once.
 */
export function afterLastPass(now: Date): Document {
  const within = (ms: number): Date => new Date(now.getTime() + ms);
  const doneAt = { $ifNull: ['$fanOut.doneAt', new Date(0)] };
  const apart = { $min: [within(COALESCE_MS), { $add: [doneAt, COALESCE_MS] }] };
  const rested = { $min: [within(MAX_REST_MS), { $ifNull: ['$fanOut.restUntil', new Date(0)] }] };
  return { $max: [now, apart, rested] };
}

/** An expression: to whom an action is addressed, as it is stored. */
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

/** Fields of a change of the audience, for hosts that are notified who gained the action by it. */
export function notifiedUntilNow({ isOn }: { readonly isOn: boolean }): Document {
  return isOn ? { 'fanOut.toldAudience': { $ifNull: ['$fanOut.toldAudience', AUDIENCE_NOW] } } : {};
}

export interface PassRequest {
  /** When the pass may begin, or an expression that tells. A pass that is due earlier stays due earlier. */
  readonly notBefore: Date | Document;
  /** How urgent it is. A pass that is pending and more urgent stays more urgent. */
  readonly lane: Lane;
  /** Who holds the action goes on holding it, and only the place may be another. Default: the feeds may be wrong until then. */
  readonly isBoost?: boolean;
}

/**
 * Fields of an update pipeline that ask for one more pass over an action: the version rises, and the action becomes
 * PENDING unless somebody is working on it, who will find the version raised. In one write with the change it is for.
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
    // The names of the lanes rise with their urgency: see `fan-out-lanes.ts`.
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
