import { ObjectId, type Document } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { EventEntries } from '../stages/event-entries.ts';
import type { FollowPair } from './follow-reads.ts';
import { literal } from '../stages/literal.ts';

export interface NewSpan extends FollowPair {
  readonly since: Date;
  readonly sinceAction?: ActionId;
  /** Sorted, without duplicates. `null`: all types. Absent: unchanged, or all types for a new follow. */
  readonly types?: readonly string[] | null | undefined;
  /** Absent: unchanged, or false for a new follow. */
  readonly isAssigned?: boolean | undefined;
}

/** Tokens with which a call that opens follows marks them until they are settled. */
export interface OpeningTokens {
  /** The pair was not followed: the follower must be counted. */
  readonly opened: string;
  /** The pair was followed, and its span now starts earlier. */
  readonly extended: string;
  /** The pair was followed with different options. */
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

/** Update pipeline fields that open or change a follow. */
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
    // An existing mark means that a call was interrupted and the count may be wrong.
    settling: { $ifNull: ['$settling', mark] },
    active: true,
    ...events.staged('follow.opened', now, { $not: [IS_OPEN] }),
  };
}

/** Types of the open span; `null`: all types. */
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

/** Whether the open span starts after that position. */
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
