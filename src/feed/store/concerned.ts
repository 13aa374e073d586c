import type { Action, UserId } from '../../domain/action.ts';
import { concernedSince, concernedUntil, userKey } from '../../domain/audience.ts';
import { baseRelevancy, concernedGroups, type InteractionGroup } from '../../domain/relevancy.ts';
import { inOneBatch } from '../../storage/database/batches.ts';
import type { Collections } from '../../storage/database/mongo.ts';

interface Concerned {
  /** Whom the action names, to whom one of its refs is assigned, and members whose department or supervisor matters. */
  readonly concerned: ReadonlySet<UserId>;
  /** Readers whose stored feeds may lack the action, since it was below their floor, or is below that of their next rebuild. */
  readonly lacking: ReadonlySet<UserId>;
}

/**
 * Whom interactions with the action concern, whether or not it is in their feeds; at least `limit` if there are more. One round
 * trip. Indexes `assigned`, `supervisor`, `department`.
 *
 * @param raisedTo also looks for feeds that may lack the action at this place. Indexes `floor`, `rebuild`.
 */
export async function concernedReaders(
  { follows, members, feeds }: Collections,
  action: Action,
  interactions: readonly Pick<InteractionGroup, 'actorId' | 'departmentIds'>[],
  limit: number,
  raisedTo: Date | null = null,
): Promise<Concerned> {
  const concerned = new Set(namedBy(action));
  const lacking = new Set<UserId>();
  if (concerned.size >= limit) return { concerned, lacking };
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
    follows.aggregate<{ readonly of: UserId } | { readonly lacks: UserId }>(
      [
        { $match: { refId: { $in: [...action.refIds] }, isAssigned: true, active: true } },
        { $limit: limit },
        { $project: { _id: 0, of: '$followerId' } },
        // Each from an index of its own.
        ...groups.map(({ coll, $match }) => ({
          $unionWith: {
            coll,
            pipeline: [
              { $match },
              { $limit: limit },
              { $project: { _id: 0, [coll === ofFeeds ? 'lacks' : 'of']: '$_id' } },
            ],
          },
        })),
      ],
      { hint: 'assigned' },
    ),
    (1 + groups.length) * limit,
  );
  for (const one of found)
    if ('of' in one) concerned.add(one.of);
    else lacking.add(one.lacks);
  return { concerned, lacking };
}

/** Whether the stored feed of one of these readers may lack the action at this place. One round trip. */
export async function areLacking(
  { feeds }: Collections,
  action: Action,
  userIds: readonly UserId[],
  raisedTo: Date,
): Promise<boolean> {
  const isBelow = { 'floor.relevancy': { $gte: baseRelevancy(action), $lte: raisedTo } };
  const filter = { _id: { $in: [...userIds] }, $or: [isBelow, { 'rebuild.due': { $exists: true } }] };
  return (await feeds.findOne(filter, { projection: { _id: 1 } })) !== null;
}

/** Members whom the action names, or named. */
export function namedBy(action: Action): UserId[] {
  return [...concernedSince(action).keys(), ...concernedUntil(action).keys()]
    .filter((key) => key.startsWith(userKey('')))
    .map((key) => key.slice(userKey('').length));
}
