import { LRUCache } from 'lru-cache';
import { ObjectId, type Document, type WithId } from 'mongodb';
import type { Action, ActionId, RefId, UserId } from '../../domain/action.ts';
import {
  concernedSince,
  concernedUntil,
  departmentKey,
  reachesFollowers,
  teamKey,
  userKey,
} from '../../domain/audience.ts';
import { baseRelevancy, concernedGroups, type InteractionGroup } from '../../domain/relevancy.ts';
import { followableIds } from '../../domain/visibility.ts';
import { toAction } from '../../storage/actions/action-document.ts';
import { inOneBatch } from '../../storage/database/batches.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import type { ActionDocument } from '../../storage/documents/documents.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';

/** Interactions with an action. */
export interface Raising {
  readonly action: Action;
  readonly interactions: readonly Pick<InteractionGroup, 'actorId' | 'departmentIds'>[];
  /** Also looks for feeds that may lack the action at this place; `null`: does not. */
  readonly raisedTo: Date | null;
  /** Also reads the action as it is now, and who its few readers are. */
  readonly withReaders: boolean;
}

export interface Concerned {
  /** Members whom the action names, to whom one of its refs is assigned, and whose department or supervisor matters. */
  readonly concerned: ReadonlySet<UserId>;
  /** Readers whose stored feeds may lack the action, since it was below their floor, or is below that of their next rebuild. */
  readonly lacking: ReadonlySet<UserId>;
  /** There may be more. */
  readonly isCut: boolean;
  /** As it is now; `null`: it is gone, or was not asked for. */
  readonly now: Action | null;
  /** All to whom the action may be addressed, if few have it: its followers, its team or department, and whom it names. */
  readonly readers: ReadonlySet<UserId>;
}

/** Readers of an action that is read together with them. */
const FEW_READERS = 100;

/** Whether an action has few readers. What is pulled is in no audience that could be read. */
export function hasFewReaders({ fanOut, pullRefIds }: Action): boolean {
  return fanOut.delivered <= FEW_READERS && pullRefIds.length === 0;
}

/** Actions whose readers watched a moment ago. */
export const watchedLately = () => new LRUCache<ActionId, true>({ max: 10_000, ttl: 10_000 });

type Found =
  | { readonly refId: RefId; readonly of: UserId }
  | { readonly followed: RefId; readonly of: UserId }
  | { readonly supervisorId: UserId; readonly of: UserId }
  | { readonly departmentId: string; readonly of: UserId }
  | { readonly teamId: string; readonly of: UserId }
  /** Without a floor: the feed is to be rebuilt. */
  | { readonly lacks: UserId; readonly floor?: Date }
  | WithId<ActionDocument>;

/**
 * Whom interactions with each of the actions concern, whether or not it is in their feeds. One round trip. Indexes `assigned`,
 * `supervisor`, `department`, `team`, `by_ref`, `floor`, `rebuild`.
 * @param most of what is read for all of them together, beside their readers
 */
export async function concernedReaders(
  collections: Collections,
  raisings: readonly Raising[],
  most: number,
): Promise<(raising: Raising) => Concerned> {
  const { follows } = collections;
  const limit = most + FEW_READERS * raisings.filter(({ withReaders }) => withReaders).length;
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
            pipeline: [
              { $match },
              { $limit: limit },
              ...$project.map((fields) => ({ $project: { _id: 0, ...fields } })),
            ],
          },
        })),
      ],
      { hint: 'assigned' },
    ),
    (1 + beside.length) * limit,
  );
  return ({ action, interactions, raisedTo, withReaders }) => {
    const { departmentIds, supervisorIds } = concernedGroups(action, interactions);
    const concerned = new Set(namedBy(action));
    const lacking = new Set<UserId>();
    const readers = new Set([...concerned, ...action.mentions, ...action.recipients]);
    const followed = followableIds(action);
    let now: Action | null = null;
    for (const one of found) {
      if ('descriptor' in one) {
        if (withReaders && one._id.toHexString() === action.id) now = toAction(one);
      } else if ('lacks' in one) {
        const { lacks, floor } = one;
        const isToBeRebuilt = floor === undefined;
        if (raisedTo !== null && (isToBeRebuilt || isBetween(floor, action, raisedTo))) lacking.add(lacks);
      } else if ('refId' in one) {
        if (action.refIds.includes(one.refId)) concerned.add(one.of);
      } else if ('followed' in one) {
        if (followed.includes(one.followed)) readers.add(one.of);
      } else if ('supervisorId' in one) {
        if (supervisorIds.includes(one.supervisorId)) concerned.add(one.of);
      } else if ('teamId' in one) {
        if (action.audience.includes(teamKey(one.teamId))) readers.add(one.of);
      } else {
        if (departmentIds.includes(one.departmentId)) concerned.add(one.of);
        if (action.audience.includes(departmentKey(one.departmentId))) readers.add(one.of);
      }
    }
    return { concerned, lacking, isCut: found.length >= limit, now, readers };
  };
}

/** Facts that are read beside assigned follows. */
function listsBeside({ actions, follows, members, feeds }: Collections, raisings: readonly Raising[]) {
  const asked = raisings.flatMap(({ action, withReaders }) => (withReaders ? action : []));
  const few = asked.filter(hasFewReaders);
  const followed = few.filter(reachesFollowers).flatMap(followableIds);
  const keysOf = (prefix: string): string[] =>
    few.flatMap(({ audience }) =>
      audience.flatMap((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : [])),
    );
  const groups = raisings.map(({ action, interactions }) => concernedGroups(action, interactions));
  const raised = raisings.flatMap(({ action, raisedTo: to }) =>
    to === null ? [] : { base: baseRelevancy(action).getTime(), to: to.getTime() },
  );
  const $gte = new Date(Math.min(...raised.map(({ base }) => base)));
  const $lte = new Date(Math.max(...raised.map(({ to }) => to)));
  const list = (coll: string, field: string, ids: readonly unknown[], ...$project: Document[]) =>
    ids.length === 0 ? [] : [{ coll, $match: { [field]: { $in: [...new Set(ids)] } }, $project }];
  const listOf = (field: 'supervisorId' | 'departmentId' | 'teamId', ids: readonly string[]) =>
    list(members.collectionName, field, ids, { [field]: 1, of: '$_id' });
  const feedsWith = ($match: Document, more = {}) =>
    raised.length === 0
      ? []
      : [{ coll: feeds.collectionName, $match, $project: [{ lacks: '$_id', ...more }] }];
  const actionIds = new Set(asked.map(({ id }) => id));
  const supervisorIds = groups.flatMap((of) => of.supervisorIds);
  const departmentIds = groups.flatMap((of) => of.departmentIds);
  return [
    ...listOf('supervisorId', supervisorIds),
    ...listOf('departmentId', [...departmentIds, ...keysOf(departmentKey(''))]),
    ...listOf('teamId', keysOf(teamKey(''))),
    ...list(follows.collectionName, 'refId', followed, { followed: '$refId', of: '$followerId' }),
    ...list(
      actions.collectionName,
      '_id',
      Array.from(actionIds, (id) => new ObjectId(id)),
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
