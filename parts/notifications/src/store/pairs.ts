import { ObjectId, type Document } from 'mongodb';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import {
  MAX_COUNTED,
  type NotificationEvent,
  type NotificationKind,
} from '../../../../src/domain/notification.ts';
import { INTERACTION_KINDS, type InteractionKind } from '../../../../src/domain/relevancy.ts';
import { toEngagement, type ActionDocument } from '../../../../src/storage/documents/documents.ts';
import type { ThreadDocument } from '../../../../src/features/interactions/store/threads.ts';

/** Kinds of events that comments to a member are. */
export const KINDS_TO = ['MENTION', 'REPLY'] as const;
type KindTo = (typeof KINDS_TO)[number];

/** Kinds of events that are interactions with an action, of which there may be very many. */
const PAIR_KINDS = [...INTERACTION_KINDS, ...KINDS_TO] as const;
export type PairKind = InteractionKind | KindTo;

export const isPairKind = (kind: NotificationKind): kind is PairKind =>
  PAIR_KINDS.some((one) => one === kind);

/** Events of one kind with an action. */
export interface Pair {
  readonly actionId: ActionId;
  readonly kind: PairKind;
}

/** A pair, and how many there may be, which decides only how they are read. */
export interface PairToRead extends Pair {
  readonly count: number;
  /** Only the newest is needed, which says where the notification stands. Default: all that are counted. */
  readonly isNewestOnly?: boolean;
}

/** The newest of a pair: visible, at most 101, in no order. */
export interface PairRow extends Pair {
  readonly events: readonly NotificationEvent[];
}

/** One more than is counted. */
export const MOST_EVENTS = MAX_COUNTED + 1;

/** Interactions of a pair, up to which it costs less to read them together with those of others than in a branch of their own. */
const FEW = 100;

/** A pipeline, and the collection it begins with. */
export interface Branch {
  readonly coll: string;
  readonly pipeline: readonly Document[];
}

/** The visible interactions of a kind with actions. Each in one range of an index for an action, without a sort. */
export function visibleOf(kind: PairKind, userId: UserId): Document {
  switch (kind) {
    case 'MENTION':
      return { mentions: { $eq: userId, $exists: true }, state: null, actorId: { $ne: userId } };
    case 'REPLY':
      return { replyTo: { $eq: userId, $exists: true }, state: null };
    case 'COMMENT':
    case 'LIKE':
    case 'RESHARE':
    case 'REACTION':
      return { kind, state: null, ownerId: userId };
  }
}

/** The field by which their index is ordered. */
export const timeOfPair = (kind: PairKind): 'at' | 'shownAt' =>
  KINDS_TO.some((one) => one === kind) ? 'shownAt' : 'at';

/**
 * The newest visible interactions of each pair. All ids are constants, and each branch is one range of index `list` per action,
 * so that no branch reads more than it gives. Pairs with few are read whole in one branch for each kind, whatever their number.
 */
export function newestOfPairs(
  coll: string,
  pairs: readonly PairToRead[],
  { userId, since }: { readonly userId: UserId; readonly since: Date },
): readonly Document[] {
  const visible = (kind: PairKind): Document => ({
    ...visibleOf(kind, userId),
    [timeOfPair(kind)]: { $gte: since },
  });
  const asKind = (kind: PairKind): Document[] =>
    KINDS_TO.some((one) => one === kind) ? [{ $set: { kind: { $literal: kind } } }] : [];
  const small = PAIR_KINDS.flatMap((kind) =>
    [false, true].flatMap((isNewestOnly): Document[][] => {
      const few = pairs.filter(
        (pair) => pair.kind === kind && pair.count <= FEW && (pair.isNewestOnly ?? false) === isNewestOnly,
      );
      const ids = few.map(({ actionId }) => new ObjectId(actionId));
      const all = { $match: { actionId: { $in: ids }, ...visible(kind) } };
      if (ids.length === 0) return [];
      const newestFirst = { $sort: { shownAt: -1, _id: -1 } };
      return [[all, newestFirst, ...(isNewestOnly ? firstOfEach(kind) : asKind(kind))]];
    }),
  );
  const large = pairs
    .filter(({ count }) => count > FEW)
    .map(({ actionId, kind, isNewestOnly }): Document[] => [
      { $match: { actionId: new ObjectId(actionId), ...visible(kind) } },
      { $sort: { [timeOfPair(kind)]: -1, _id: -1 } },
      { $limit: isNewestOnly === true ? 1 : MOST_EVENTS },
      ...asKind(kind),
    ]);
  return [
    ...united([...small, ...large].map((pipeline) => ({ coll, pipeline }))).pipeline,
    {
      $group: {
        _id: { actionId: '$actionId', kind: '$kind' },
        ids: { $push: '$_id' },
        actorIds: { $push: '$actorId' },
        times: { $push: '$shownAt' },
      },
    },
  ];
}

/** The first interaction with each action. */
function firstOfEach(kind: PairKind): Document[] {
  const first = (field: string): Document => ({ $first: field });
  return [
    {
      $group: { _id: '$actionId', id: first('$_id'), actorId: first('$actorId'), shownAt: first('$shownAt') },
    },
    { $project: { _id: '$id', actionId: '$_id', kind: { $literal: kind }, actorId: 1, shownAt: 1 } },
  ];
}

/**
 * One after the other, the first one first. As a tree: the planner of the local engine takes far longer for a chain.
 */
export function united(branches: readonly Branch[]): Branch {
  const [first] = branches;
  if (first === undefined) throw new Error('A union needs at least one query');
  if (branches.length === 1) return first;
  const half = Math.ceil(branches.length / 2);
  const { coll, pipeline } = united(branches.slice(0, half));
  return { coll, pipeline: [...pipeline, { $unionWith: united(branches.slice(half)) }] };
}

export function pairsOf(actionId: ActionId, engagement: ActionDocument['engagement']): PairToRead[] {
  const { comments, likes, reshares, reactions } = toEngagement(engagement);
  const counts = { COMMENT: comments, LIKE: likes, RESHARE: reshares, REACTION: 0 };
  for (const { count } of reactions) counts.REACTION += count;
  return INTERACTION_KINDS.map((kind) => ({ actionId, kind, count: counts[kind] }));
}

export function pairsTo(
  actionId: ActionId,
  { mentions = 0, replies = 0 }: Pick<ThreadDocument, 'mentions' | 'replies'>,
): PairToRead[] {
  const counts = { MENTION: mentions, REPLY: replies };
  return KINDS_TO.flatMap((kind) => (counts[kind] === 0 ? [] : [{ actionId, kind, count: counts[kind] }]));
}

export interface PairDocument {
  readonly _id: { readonly actionId: ObjectId; readonly kind: PairKind };
  readonly ids: readonly ObjectId[];
  readonly actorIds: readonly UserId[];
  readonly times: readonly Date[];
}

export function toPairRow({ _id: { actionId, kind }, ids, actorIds, times }: PairDocument): PairRow {
  const events = ids.map((one, index) => {
    const id = one.toHexString();
    return { id, interactionId: id, actorId: actorIds[index] ?? null, at: times[index] ?? new Date(0) };
  });
  return { actionId: actionId.toHexString(), kind, events };
}
