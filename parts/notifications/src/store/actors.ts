import { ObjectId, type Document } from 'mongodb';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import type { InteractionKind } from '../../../../src/domain/relevancy.ts';
import { inSlices } from '../../../../src/lib/turn.ts';
import { inTurns, unionOf } from '../../../../src/storage/database/batches.ts';
import type { Collections } from '../../../../src/storage/documents/declaration.ts';
import { literal } from '../../../../src/storage/stages/revision.ts';

/** Pairs that one command counts. */
const PAIRS_AT_ONCE = 10;

interface ActorsOfPair {
  readonly actionId: ActionId;
  readonly kind: InteractionKind;
  /** Number of members. */
  readonly members: number;
  /** Some of them. */
  readonly actors: readonly UserId[];
  readonly events: number;
}

/**
 * How many visible interactions of each kind with each action there are, up to `limit` of the newest, and by whom, up to `most` members;
 * without those of some members, and those that concern the reader more than this. One command for ten pairs. Index `list`.
 */
export async function countActorsOf(
  { interactions }: Collections,
  userId: UserId,
  pairs: readonly { readonly actionId: ActionId; readonly kind: InteractionKind }[],
  options: {
    readonly without: readonly UserId[];
    readonly since: Date;
    readonly limit: number;
    readonly most: number;
  },
): Promise<readonly ActorsOfPair[]> {
  const { without, since, limit, most } = options;
  const counted = pairs.map(({ actionId, kind }): Document[] => [
    {
      $match: {
        ...{ actionId: new ObjectId(actionId), kind, state: null },
        ...{ ownerId: userId, actorId: { $nin: [...without] }, at: { $gte: since } },
      },
    },
    { $sort: { at: -1, _id: -1 } },
    { $limit: limit },
    { $group: { _id: '$actorId', events: { $sum: 1 } } },
    // Groups come in no order: without one, chance would decide who is left out.
    { $sort: { _id: 1 } },
    { $group: { _id: null, members: { $sum: 1 }, actors: { $push: '$_id' }, events: { $sum: '$events' } } },
    {
      $project: {
        ...{ _id: 0, actionId: literal(actionId), kind: literal(kind), members: 1, events: 1 },
        actors: { $slice: ['$actors', most] },
      },
    },
  ]);
  const found = await inSlices(counted, PAIRS_AT_ONCE, (some) =>
    inTurns(
      interactions.aggregate<ActorsOfPair>(unionOf(interactions, some), { batchSize: PAIRS_AT_ONCE + 1 }),
    ),
  );
  return found.flat();
}
