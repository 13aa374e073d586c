import { ObjectId, type Document } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { EventEntries } from '../stages/event-entries.ts';
import type { FollowPair } from './follow-reads.ts';
import { literal } from '../stages/literal.ts';

export interface NewSpan extends FollowPair {
  readonly since: Date;
  readonly sinceAction?: ActionId;
  /** In order and each once. Null: of any type. Absent: as before; of any, where nothing is followed. */
  readonly types?: readonly string[] | null | undefined;
  /** Absent: as before; false, where nothing is followed. */
  readonly isAssigned?: boolean | undefined;
}

/** How a call that opens follows marks them until they are settled. */
export interface OpeningTokens {
  /** The pair was not followed: the follower is to be counted. */
  readonly opened: string;
  /** The pair was followed already, and its span begins earlier now. */
  readonly extended: string;
  /** The pair was followed already, with other options. */
  readonly changed: string;
}

interface Opening {
  readonly tokens: OpeningTokens;
  readonly now: Date;
  readonly events: EventEntries;
}

const IS_OPEN: Document = { $eq: ['$active', true] };
const SPANS: Document = { $ifNull: ['$spans', []] };
const HAS_NO_END: Document = { $not: [{ $gt: ['$$span.until', null] }] };

/** Fields of an update pipeline that open a follow, or change it. */
export function openingStage(span: NewSpan, { tokens, now, events }: Opening): Document {
  const { since, types, isAssigned } = span;
  const place = {
    since,
    ...(span.sinceAction === undefined ? {} : { sinceAction: new ObjectId(span.sinceAction) }),
  };
  const opened = { ...place, ...(types == null ? {} : { types: literal(types) }) };
  const extended = inEach({ $cond: [beginsAfter(place), { $mergeObjects: ['$$span', place] }, '$$span'] });
  const ended = inEach({ $mergeObjects: ['$$span', { until: { $ifNull: ['$$span.until', now] } }] });
  const hasOtherTypes = types === undefined ? false : { $ne: [OPEN_TYPES, literal(types)] };
  const isChanged = {
    $or: [
      hasOtherTypes,
      isAssigned === undefined ? false : { $ne: [{ $ifNull: ['$isAssigned', false] }, isAssigned] },
    ],
  };
  const mark = {
    $switch: {
      branches: [
        { case: { $not: [IS_OPEN] }, then: new ObjectId(tokens.opened) },
        { case: isChanged, then: new ObjectId(tokens.changed) },
        { case: hasAny(beginsAfter(place)), then: new ObjectId(tokens.extended) },
      ],
      default: '$$REMOVE',
    },
  };
  return {
    spans: {
      $switch: {
        branches: [
          { case: { $not: [IS_OPEN] }, then: { $concatArrays: [SPANS, [opened]] } },
          { case: hasOtherTypes, then: { $concatArrays: [ended, [opened]] } },
        ],
        default: extended,
      },
    },
    isAssigned: assignment(isAssigned),
    // A mark that is there tells of a call that was cut off, and of a count that may be wrong.
    settling: { $ifNull: ['$settling', mark] },
    active: true,
    ...events.staged('follow.opened', now, { $not: [IS_OPEN] }),
  };
}

/** Of what types the open span brings actions; null: of any. */
const OPEN_TYPES: Document = {
  $let: {
    vars: { open: { $first: { $filter: { input: SPANS, as: 'span', cond: HAS_NO_END } } } },
    in: { $ifNull: ['$$open.types', null] },
  },
};

function assignment(isAssigned: boolean | undefined): unknown {
  if (isAssigned === undefined)
    return { $cond: [IS_OPEN, { $ifNull: ['$isAssigned', '$$REMOVE'] }, '$$REMOVE'] };
  return isAssigned ? true : '$$REMOVE';
}

/** Whether a span is open and begins later than that place. */
function beginsAfter({
  since,
  sinceAction,
}: {
  readonly since: Date;
  readonly sinceAction?: ObjectId;
}): Document {
  const beginsInIt = {
    $and: [
      { $eq: ['$$span.since', since] },
      { $gt: ['$$span.sinceAction', sinceAction ?? null] },
      sinceAction !== undefined,
    ],
  };
  return { $and: [HAS_NO_END, { $or: [{ $gt: ['$$span.since', since] }, beginsInIt] }] };
}

function inEach(expression: Document): Document {
  return { $map: { input: SPANS, as: 'span', in: expression } };
}

function hasAny(cond: Document): Document {
  return { $gt: [{ $size: { $filter: { input: SPANS, as: 'span', cond } } }, 0] };
}
