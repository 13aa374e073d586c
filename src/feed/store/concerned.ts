import type { Action, UserId } from '../../domain/action.ts';
import { concernedSince, concernedUntil, userKey } from '../../domain/audience.ts';
import { concernedGroups, type InteractionGroup } from '../../domain/relevancy.ts';
import { inOneBatch } from '../../storage/database/batches.ts';
import type { Collections } from '../../storage/database/mongo.ts';

/**
 * Whom interactions with the action concern, whether or not it is in their feeds: whom the action names, to whom one of its
 * refs is assigned, and members whose department or supervisor matters; at least so many if there are more. One round trip.
 * Indexes `assigned`, `supervisor`, `department`.
 */
export async function concernedReaders(
  { follows, members }: Collections,
  action: Action,
  interactions: readonly Pick<InteractionGroup, 'actorId' | 'departmentIds'>[],
  limit: number,
): Promise<ReadonlySet<UserId>> {
  const all = new Set(namedBy(action));
  if (all.size >= limit) return all;
  const { departmentIds, supervisorIds } = concernedGroups(action, interactions);
  const groups = [
    ...(supervisorIds.length > 0 ? [{ supervisorId: { $in: [...supervisorIds] } }] : []),
    ...(departmentIds.length > 0 ? [{ departmentId: { $in: [...departmentIds] } }] : []),
  ];
  const found = await inOneBatch(
    follows.aggregate<{ readonly of: UserId }>(
      [
        { $match: { refId: { $in: [...action.refIds] }, isAssigned: true, active: true } },
        { $limit: limit },
        { $project: { _id: 0, of: '$followerId' } },
        // Each from an index of its own.
        ...groups.map((group) => ({
          $unionWith: {
            coll: members.collectionName,
            pipeline: [{ $match: group }, { $limit: limit }, { $project: { _id: 0, of: '$_id' } }],
          },
        })),
      ],
      { hint: 'assigned' },
    ),
    3 * limit,
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
