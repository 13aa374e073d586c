import type { Document, Filter } from 'mongodb';
import type { Lane } from '../../domain/lane.ts';
import { clock } from '../../lib/clock.ts';
import { traceParent } from '../../telemetry/tracing.ts';
import type { TraceDocument, ActionDocument, NewClaim } from '../documents/documents.ts';
import type { FanOutState } from '../../domain/action.ts';
import type { Lifts } from '../../domain/relevancy.ts';
import { literal } from './revision.ts';

/** Former audiences kept individually until a pass processes them. */
const MOST_FORMER = 10;

/** Upper bound on ids of people, refs and resharers in all of them. */
const MOST_FORMER_IDS = 20_000;

const FIELDS = ['audience', 'mentions', 'recipients', 'refIds', 'pullRefIds', 'reshares'] as const;

/**
 * Update pipeline fields that keep the current audience of an action for the pass that notifies readers who lost it. More
 * than ten are merged into one per scope that names everybody in them: the same readers. If they name too many ids, they are
 * dropped, and the pass asks all watchers to resync.
 *
 * @param audience an expression
 * @param isLost an expression: whether there is anything to keep
 */
export function formerKept(audience: Document, isLost: unknown = true): Document {
  const all = { $concatArrays: [{ $ifNull: ['$fanOut.former', []] }, [audience]] };
  const ids = {
    $sum: {
      $map: {
        input: '$$all',
        in: { $sum: FIELDS.map((field) => ({ $size: { $ifNull: [`$$this.${field}`, []] } })) },
      },
    },
  };
  const within = (tooMany: unknown, other: unknown): Document => ({
    $let: { vars: { all }, in: { $cond: [{ $gt: [ids, MOST_FORMER_IDS] }, tooMany, other] } },
  });
  const kept = { $cond: [{ $gt: [{ $size: '$$all' }, MOST_FORMER] }, ONE_FOR_EACH_SCOPE, '$$all'] };
  const changed = (field: string, is: unknown): Document => ({
    $cond: [isLost, is, { $ifNull: [`$${field}`, '$$REMOVE'] }],
  });
  return {
    'fanOut.former': changed('fanOut.former', within([], kept)),
    'fanOut.formerCutRev': changed(
      'fanOut.formerCutRev',
      within({ $max: '$$all.rev' }, { $ifNull: ['$fanOut.formerCutRev', '$$REMOVE'] }),
    ),
  };
}

const ONE_FOR_EACH_SCOPE = {
  $map: {
    input: { $setUnion: ['$$all.scope', []] },
    as: 'scope',
    in: {
      $let: {
        vars: { same: { $filter: { input: '$$all', cond: { $eq: ['$$this.scope', '$$scope'] } } } },
        in: {
          rev: { $max: '$$same.rev' },
          scope: '$$scope',
          ...Object.fromEntries(
            FIELDS.map((field) => [
              field,
              {
                $reduce: {
                  input: `$$same.${field}`,
                  initialValue: [],
                  in: { $setUnion: ['$$value', '$$this'] },
                },
              },
            ]),
          ),
        },
      },
    },
  },
};

const OPEN: FanOutState[] = ['PENDING', 'IN_PROGRESS'];

/** Filter for fan-outs by the state that `reportedFanOut` reports. States other than DONE use the index `claim_by_lane`. */
export function reportedAs(state: FanOutState): Filter<ActionDocument> {
  if (state === 'DONE')
    return {
      $or: [
        { 'fanOut.state': 'DONE' },
        { 'fanOut.state': { $in: OPEN }, 'fanOut.deliveredVersion': { $exists: true } },
      ],
    };
  return {
    'fanOut.state': state,
    'fanOut.leaseUntil': { $exists: true },
    ...(state === 'FAILED' ? {} : { 'fanOut.deliveredVersion': { $exists: false } }),
  };
}

/** Fan-outs that are not DONE; `$exists` states the condition of the partial index. */
export const OPEN_FAN_OUT: Filter<ActionDocument> = {
  'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS', 'FAILED'] },
  'fanOut.leaseUntil': { $exists: true },
};

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
  /** Urgency. A more urgent lane of a pending pass is kept, and so is that of a first delivery; see `laneAfter`. */
  readonly lane: Lane;
  /** The action is withdrawn, or shown again: URGENT even before its first delivery has begun. */
  readonly isModerated?: boolean;
  /**
   * Holders keep the action, and only interactions of these kinds, not before these times, may change its position. Default:
   * feeds may be wrong until the pass.
   */
  readonly lifts?: Lifts;
}

/**
 * Update pipeline fields that request another pass over an action: increments the version, and makes the action PENDING
 * unless a worker has it, which will notice the new version at its end. Used in the write that makes the change.
 */
export function passRequested(request: PassRequest): Document {
  const { notBefore, lane, lifts } = request;
  const isWorkedOn = { $eq: ['$fanOut.state', 'IN_PROGRESS'] };
  const isWaiting = { $eq: ['$fanOut.state', 'PENDING'] };
  return {
    'fanOut.version': { $add: ['$fanOut.version', 1] },
    'fanOut.trace': traceToKeep() ?? '$$REMOVE',
    ...(lifts === undefined
      ? {
          'fanOut.changedVersion': { $add: ['$fanOut.version', 1] },
          'fanOut.deliveredVersion': '$$REMOVE',
        }
      : {
          'fanOut.lifts': withLifts('$fanOut.lifts', lifts),
          'fanOut.nextLifts': { $cond: [isWorkedOn, withLifts('$fanOut.nextLifts', lifts), '$$REMOVE'] },
        }),
    'fanOut.state': { $cond: [isWorkedOn, 'IN_PROGRESS', 'PENDING'] },
    'fanOut.attempts': { $cond: [isWorkedOn, '$fanOut.attempts', 0] },
    'fanOut.lane': laneAfter(request, { $or: [isWorkedOn, isWaiting] }),
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

/** Update pipeline fields that claim a pass of the lane LIVE if it is due. In a stage after the one that requests it. */
export function claimedIfDue({ token, leaseMs }: NewClaim): Document {
  const now = clock.now();
  const isDue = {
    $and: [
      { $eq: ['$fanOut.state', 'PENDING'] },
      { $eq: ['$fanOut.lane', 'LIVE'] },
      { $lte: ['$fanOut.leaseUntil', now] },
    ],
  };
  const counted = (field: string): Document => ({ $add: [{ $ifNull: [`$fanOut.${field}`, 0] }, 1] });
  const claimed = {
    ...{ state: 'IN_PROGRESS', worker: literal(token), leaseUntil: new Date(now.getTime() + leaseMs) },
    ...{ attempts: counted('attempts'), begun: counted('begun') },
  };
  return { fanOut: { $cond: [isDue, { $mergeObjects: ['$fanOut', claimed] }, '$fanOut'] } };
}

/** Expression: stored lifts with these. */
function withLifts(stored: string, lifts: Lifts): Document {
  const earliest = Object.entries(lifts).map(([kind, at]) => [kind, { $min: [`${stored}.${kind}`, at] }]);
  return { $mergeObjects: [stored, Object.fromEntries(earliest)] };
}

/**
 * Expression: the lane of a fan-out for which another pass is requested. Names of lanes sort by urgency. A first delivery stays
 * in the lane that it was published in until it has ended, otherwise an import would be in LIVE as soon as somebody likes or
 * edits what is in it. If readers are to lose the action it is lifted, once a pass has begun: until then they do not have it.
 */
function laneAfter({ lane, isModerated = false }: PassRequest, isOpen: Document): Document {
  const lifted = { $cond: [isOpen, { $max: ['$fanOut.lane', lane] }, lane] };
  if (isModerated) return lifted;
  const isFirst = { $eq: [{ $ifNull: ['$fanOut.doneAt', '$fanOut.restUntil', null] }, null] };
  const hasBegun = { $gt: [{ $ifNull: ['$fanOut.begun', 0] }, 0] };
  const isKept = lane === 'URGENT' ? { $and: [isFirst, { $not: [hasBegun] }] } : isFirst;
  return { $cond: [isKept, { $ifNull: ['$fanOut.lane', lane] }, lifted] };
}

/** The active trace, to be stored with a requested pass. Undefined without one. */
export function traceToKeep(): TraceDocument | undefined {
  const parent = traceParent();
  return parent === null ? undefined : { parent, at: clock.now() };
}
