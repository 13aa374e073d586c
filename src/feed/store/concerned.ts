import type { Document } from 'mongodb';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import { concernedSince, concernedUntil, userKey } from '../../domain/audience.ts';
import { baseRelevancy, concernedGroups, type InteractionGroup } from '../../domain/relevancy.ts';
import { inOneBatch } from '../../storage/database/batches.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';

/** Interactions with an action. */
export interface Raising {
  readonly action: Action;
  readonly interactions: readonly Pick<InteractionGroup, 'actorId' | 'departmentIds'>[];
  /** Also looks for feeds that may lack the action at this place; `null`: does not. */
  readonly raisedTo: Date | null;
}

export interface Concerned {
  /** Whom the action names, to whom one of its refs is assigned, and members whose department or supervisor matters. */
  readonly concerned: ReadonlySet<UserId>;
  /** Readers whose stored feeds may lack the action, since it was below their floor, or is below that of their next rebuild. */
  readonly lacking: ReadonlySet<UserId>;
  /** There may be more. */
  readonly isCut: boolean;
}

type Found =
  | { readonly refId: RefId; readonly of: UserId }
  | { readonly supervisorId: UserId; readonly of: UserId }
  | { readonly departmentId: string; readonly of: UserId }
  /** Without a floor: the feed is to be rebuilt. */
  | { readonly lacks: UserId; readonly floor?: Date };

/**
 * Whom interactions with each of the actions concern, whether or not it is in their feeds. One round trip. Indexes `assigned`,
 * `supervisor`, `department`, `floor`, `rebuild`.
 * @param limit of what is read for all of them together
 */
export async function concernedReaders(
  collections: Collections,
  raisings: readonly Raising[],
  limit: number,
): Promise<(raising: Raising) => Concerned> {
  const { follows } = collections;
  const refIds = new Set(raisings.flatMap(({ action }) => action.refIds));
  const beside = listsBeside(collections, raisings);
  const found = await inOneBatch(
    follows.aggregate<Found>(
      [
        { $match: { refId: { $in: [...refIds] }, isAssigned: true, active: true } },
        { $limit: limit },
        { $project: { _id: 0, refId: 1, of: '$followerId' } },
        // Each from an index of its own.
        ...beside.map(({ coll, $match, $project }) => ({
          $unionWith: {
            coll,
            pipeline: [{ $match }, { $limit: limit }, { $project: { _id: 0, ...$project } }],
          },
        })),
      ],
      { hint: 'assigned' },
    ),
    (1 + beside.length) * limit,
  );
  return ({ action, interactions, raisedTo }) => {
    const { departmentIds, supervisorIds } = concernedGroups(action, interactions);
    const concerned = new Set(namedBy(action));
    const lacking = new Set<UserId>();
    for (const one of found) {
      if ('lacks' in one) {
        const { lacks, floor } = one;
        const isToBeRebuilt = floor === undefined;
        if (raisedTo !== null && (isToBeRebuilt || isBetween(floor, action, raisedTo))) lacking.add(lacks);
      } else if ('refId' in one) {
        if (action.refIds.includes(one.refId)) concerned.add(one.of);
      } else if ('supervisorId' in one) {
        if (supervisorIds.includes(one.supervisorId)) concerned.add(one.of);
      } else if (departmentIds.includes(one.departmentId)) concerned.add(one.of);
    }
    return { concerned, lacking, isCut: found.length >= limit };
  };
}

/** What is read beside assigned follows. */
function listsBeside({ members, feeds }: Collections, raisings: readonly Raising[]) {
  const groups = raisings.map(({ action, interactions }) => concernedGroups(action, interactions));
  const raised = raisings.flatMap(({ action, raisedTo: to }) =>
    to === null ? [] : { base: baseRelevancy(action).getTime(), to: to.getTime() },
  );
  const $gte = new Date(Math.min(...raised.map(({ base }) => base)));
  const $lte = new Date(Math.max(...raised.map(({ to }) => to)));
  const membersBy = (field: 'supervisorId' | 'departmentId', ids: readonly string[]) =>
    ids.length === 0
      ? []
      : [
          {
            coll: members.collectionName,
            $match: { [field]: { $in: [...new Set(ids)] } },
            $project: { [field]: 1, of: '$_id' },
          },
        ];
  const feedsWith = ($match: Document, more = {}) =>
    raised.length === 0 ? [] : [{ coll: feeds.collectionName, $match, $project: { lacks: '$_id', ...more } }];
  return [
    ...membersBy(
      'supervisorId',
      groups.flatMap((of) => of.supervisorIds),
    ),
    ...membersBy(
      'departmentId',
      groups.flatMap((of) => of.departmentIds),
    ),
    ...feedsWith({ 'floor.relevancy': { $exists: true, $gte, $lte } }, { floor: '$floor.relevancy' }),
    ...feedsWith({ 'rebuild.due': { $exists: true } }),
  ];
}

/** Readers to whose feeds an action rises. */
export interface Risen {
  readonly action: Action;
  readonly userIds: readonly UserId[];
  readonly raisedTo: Date;
}

/** Tells whether one of the stored feeds may lack the action at its place. One round trip. */
export async function feedsLacking(
  { feeds }: Collections,
  all: readonly Risen[],
): Promise<(risen: Risen) => boolean> {
  const userIds = [...new Set(all.flatMap((one) => one.userIds))];
  const isAtRisk = { $or: [{ 'floor.relevancy': { $exists: true } }, { 'rebuild.due': { $exists: true } }] };
  const found = await inOneBatch(
    feeds
      .find({ _id: { $in: userIds }, ...isAtRisk })
      .project<Pick<FeedDocument, '_id' | 'floor' | 'rebuild'>>({ floor: 1, rebuild: 1 }),
    userIds.length,
  );
  return ({ action, userIds: of, raisedTo }) =>
    found.some(
      ({ _id, floor, rebuild }) =>
        of.includes(_id) && (rebuild !== undefined || isBetween(floor?.relevancy, action, raisedTo)),
    );
}

/** Whether a floor is between where the action was and where it rises to. */
function isBetween(floor: Date | undefined, action: Action, raisedTo: Date): boolean {
  return floor !== undefined && floor >= baseRelevancy(action) && floor <= raisedTo;
}

/** Members whom the action names, or named. */
export function namedBy(action: Action): UserId[] {
  return [...concernedSince(action).keys(), ...concernedUntil(action).keys()]
    .filter((key) => key.startsWith(userKey('')))
    .map((key) => key.slice(userKey('').length));
}
