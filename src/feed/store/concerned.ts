import type { Action, UserId } from '../../domain/action.ts';
import { concernedSince, concernedUntil, userKey } from '../../domain/audience.ts';
import { baseRelevancy, concernedGroups, type InteractionGroup } from '../../domain/relevancy.ts';
import { inOneBatch } from '../../storage/database/batches.ts';
import type { Collections } from '../../storage/database/mongo.ts';

/**
 * Whom interactions with the action concern, whether or not it is in their feeds: whom the action names, to whom one of its
 * refs is assigned, and members whose department or supervisor matters; at least so many if there are more. One round trip.
 * Indexes `assigned`, `supervisor`, `department`.
 *
 * @param raisedTo also readers whose stored feeds may lack the action at this place, since it was below their floor, or is
 * below the one that a rebuild is about to set. Indexes `floor`, `rebuild`.
 */
export async function concernedReaders(
  { follows, members, feeds }: Collections,
  action: Action,
  interactions: readonly Pick<InteractionGroup, 'actorId' | 'departmentIds'>[],
  limit: number,
  raisedTo: Date | null = null,
): Promise<ReadonlySet<UserId>> {
  const all = new Set(namedBy(action));
  if (all.size >= limit) return all;
  const { departmentIds, supervisorIds } = concernedGroups(action, interactions);
  const { collectionName: ofMembers } = members;
  const { collectionName: ofFeeds } = feeds;
  const groups: readonly { readonly coll: string; readonly $match: object }[] = [
    ...(supervisorIds.length > 0
      ? [{ coll: ofMembers, $match: { supervisorId: { $in: [...supervisorIds] } } }]
      : []),
    ...(departmentIds.length > 0
      ? [{ coll: ofMembers, $match: { departmentId: { $in: [...departmentIds] } } }]
      : []),
    ...(raisedTo === null
      ? []
      : [
          {
            coll: ofFeeds,
            $match: { 'floor.relevancy': { $exists: true, $gte: baseRelevancy(action), $lte: raisedTo } },
          },
          { coll: ofFeeds, $match: { 'rebuild.due': { $exists: true } } },
        ]),
  ];
  const found = await inOneBatch(
    follows.aggregate<{ readonly of: UserId }>(
      [
        { $match: { refId: { $in: [...action.refIds] }, isAssigned: true, active: true } },
        { $limit: limit },
        { $project: { _id: 0, of: '$followerId' } },
        // Each from an index of its own.
        ...groups.map(({ coll, $match }) => ({
          $unionWith: {
            coll,
            pipeline: [{ $match }, { $limit: limit }, { $project: { _id: 0, of: '$_id' } }],
          },
        })),
      ],
      { hint: 'assigned' },
    ),
    (1 + groups.length) * limit,
  );
  for (const { of } of found) all.add(of);
  return all;
}

/** Members whom the action names, or named. */
export function namedBy(action: Action): UserId[] {
  return [...concernedSince(action).keys(), ...concernedUntil(action).keys()]
    .filter((key) => key.startsWith(userKey('')))
    .map((key) => key.slice(userKey('').length));
}
