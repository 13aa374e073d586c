import { ObjectId, type Filter, type WithId, type Collection, type Document } from 'mongodb';
import type { Action, ActionId, FanOutState, RefId, UserId } from '../../domain/action.ts';
import { DEFAULT_LANE, type Lane } from '../../domain/lane.ts';
import {
  toAction,
  actionListFilter,
  VISIBLE,
  VISIBLE_TO_FOLLOWERS,
  putOffUntil,
  NEWEST_RECORDED,
  conditionsFilter,
  type ActionConditions,
  type WantedActions,
  wantedFilter,
  type ActionListQuery,
} from './action-document.ts';
import type { ActionDocument } from '../documents/documents.ts';
import type { ReaderStampsDocument } from '../documents/installation-documents.ts';
import type { Member } from '../../domain/member.ts';
import type { Follow } from '../../domain/viewer.ts';
import { NEVER_STAMPED } from '../stamps/directory-stamps.ts';
import type { FeedDocument } from '../documents/reader-documents.ts';
import { FEW_BLOCKS, toBlocks, type BlockDocument } from '../documents/block-document.ts';
import {
  FOLLOW_FIELDS,
  toFollow,
  toStoredFollow,
  type PlainFollow,
  type PlainPair,
  type StoredFollow,
} from '../documents/follow-document.ts';
import { WITHOUT_DETAILS } from '../documents/member-document.ts';
import { toMember, type PlainMember } from '../documents/member-document.ts';
import { ALL_READERS, type Stamps } from '../stamps/reader-stamps.ts';
import type { Collections } from '../database/mongo.ts';
import { literal } from '../stages/revision.ts';
import { inOneBatch, inTurns, upTo } from '../database/batches.ts';
import { userKey } from '../../domain/audience.ts';
import { clock } from '../../lib/clock.ts';
import { gathered } from '../../lib/gathered.ts';
import { mayBeOfOne } from '../database/errors.ts';
import { beyond, type Stretch, turned } from '../documents/keyset.ts';
import { namingByActions } from './naming.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly actions: ReturnType<typeof actionsRepository>;
  }
}

function ofTypes(types: readonly string[] | null): Filter<ActionDocument> {
  return types === null ? {} : { 'descriptor.type': { $in: [...types] } };
}

/** Finds actions by their audience. Part of the repository of actions. */
function actionsOfAudience(collection: Collection<ActionDocument>) {
  return {
    /**
     * Start of a span that contains the newest `count` (at least 1) actions of a ref; `null` when there are none. Counts the
     * actions that following the ref would bring. Index `recorded_by_ref`; with types it also reads actions of other types
     * in between.
     * @param types `null`: all types.
     */
    async nthNewest(
      refId: RefId,
      count: number,
      types: readonly string[] | null = null,
    ): Promise<{ recorded: Date; id: ActionId } | null> {
      for (let limit = count; ;) {
        const documents = await collection
          .find({ refIds: refId, ...VISIBLE_TO_FOLLOWERS, ...ofTypes(types) }, upTo(limit))
          .hint('recorded_by_ref')
          .sort({ recorded: -1, _id: -1 })
          .project<Pick<ActionDocument, '_id' | 'recorded' | 'expiresAt'>>({ recorded: 1, expiresAt: 1 })
          .toArray();
        // Not part of the query, since it would mislead the choice of index. Expired actions are deleted within a second.
        const now = clock.time();
        const current = documents.filter(
          ({ expiresAt }) => expiresAt === undefined || expiresAt.getTime() > now,
        );
        const last = current[count - 1] ?? (documents.length < limit ? current.at(-1) : undefined);
        if (last !== undefined) return { recorded: last.recorded, id: last._id.toHexString() };
        if (documents.length < limit) return null;
        limit = count + documents.length - current.length;
      }
    },

    /** The newest visible actions of a ref for followers, recorded at or after `since`. Index `recorded_by_ref`. */
    async newestOfRef(refId: RefId, since: Date, limit: number): Promise<Action[]> {
      const documents = await inTurns(
        collection
          .find({
            refIds: refId,
            recorded: { $gte: since },
            ...VISIBLE_TO_FOLLOWERS,
          })
          .sort({ recorded: -1, _id: -1 })
          .limit(limit),
      );
      return documents.map(toAction);
    },

    /**
     * Actions for any of the audience keys recorded at or after `since`. Selects by the recording time in their ids, so only
     * the newest actions are examined.
     */
    async addressedSince(audience: readonly string[], since: Date): Promise<Action[]> {
      const youngest = ObjectId.createFromTime(Math.floor(since.getTime() / 1_000) - 1);
      const addressed = { recorded: { $gte: since }, audience: { $in: [...audience] }, ...VISIBLE };
      const places = [{ _id: { $gte: youngest } }, { ...putOffUntil(since), _id: { $lt: youngest } }];
      const found = places.map((place) => inTurns(collection.find({ ...place, ...addressed })));
      return (await Promise.all(found)).flat().map(toAction);
    },

    /** The users among these whom actions name. Index `audience`. */
    async namedAmong(userIds: readonly UserId[]): Promise<UserId[]> {
      const keys = userIds.map(userKey);
      const documents = await collection
        .find({ audience: { $in: keys }, isDeleted: false })
        .project<{ mentions: string[]; recipients: string[] }>({ _id: 0, mentions: 1, recipients: 1 })
        .toArray();
      const named = new Set(documents.flatMap(({ mentions, recipients }) => [...mentions, ...recipients]));
      return userIds.filter((userId) => named.has(userId));
    },
  };
}

export interface SliceQuery extends ActionConditions, Stretch<Pick<SliceEntry, 'conducted' | 'id'>> {
  readonly refId: RefId;
  /** Inclusive. */
  readonly since?: Date;
  /** Exclusive. */
  readonly until?: Date;
}

const NEWEST_CONDUCTED = { conducted: -1, _id: -1 } as const;

function sliceFilter(query: SliceQuery): Filter<ActionDocument> {
  const { from, isUp, since, until } = query;
  const place = from && { conducted: from.conducted, _id: new ObjectId(from.id) };
  const { conducted: beyondPlace, ...ties } = beyond(turned(NEWEST_CONDUCTED, isUp), place);
  const { $gte: nearest, ...beneath } = (beyondPlace ?? {}) as { readonly $gte?: Date };
  const oldest = since !== undefined && (nearest === undefined || nearest < since) ? since : nearest;
  const range = {
    ...(oldest === undefined ? {} : { $gte: oldest }),
    ...(until === undefined ? {} : { $lt: until }),
    ...beneath,
  };
  return {
    ...conditionsFilter(query),
    isDeleted: false,
    ...ties,
    ...(Object.keys(range).length === 0 ? {} : { conducted: range }),
  };
}

/** An action of a slice, as its list has it. */
export interface SliceEntry {
  readonly id: ActionId;
  readonly conducted: Date;
  readonly rev: number;
}

/** A page of a slice, and what is stored about a reader. */
export interface SliceWithReader {
  readonly entries: readonly SliceEntry[];
  readonly feed: FeedDocument | null;
  readonly member: Member | null;
  readonly directoryStamp: number;
  /** The reader's follow of the slice's ref. */
  readonly follow: Follow | null;
}

const SLICE_FIELDS = { conducted: 1, rev: 1 } as const;
type SliceDocument = Pick<ActionDocument, '_id' | keyof typeof SLICE_FIELDS>;

function toSliceEntry({ _id, conducted, rev }: SliceDocument): SliceEntry {
  return { id: _id.toHexString(), conducted, rev };
}

type StoredBeside =
  | { readonly of: 'feed'; readonly value: FeedDocument }
  | { readonly of: 'member'; readonly value: PlainMember }
  | { readonly of: 'directory'; readonly value: { readonly stamp: number } }
  | { readonly of: 'readers'; readonly value: Pick<ReaderStampsDocument, 'stamps'> }
  | { readonly of: 'follow'; readonly value: PlainFollow };

/** Adds one document of another collection. */
function beside(coll: string, $match: Document, of: StoredBeside['of'], $project?: Document): Document {
  return {
    $unionWith: {
      coll,
      pipeline: [
        { $match },
        ...($project === undefined ? [] : [{ $project }]),
        { $replaceRoot: { newRoot: { of, value: '$$ROOT' } } },
      ],
    },
  };
}

/** Parts what was found from what was added. */
function apart<D extends object>(documents: readonly (D | StoredBeside)[]) {
  const found: D[] = [];
  const feeds: FeedDocument[] = [];
  let member: Member | null = null;
  let follow: Follow | null = null;
  let directoryStamp = NEVER_STAMPED;
  let stamps: Stamps = {};
  for (const document of documents)
    if (!('of' in document)) found.push(document);
    else if (document.of === 'feed') feeds.push(document.value);
    else if (document.of === 'member') member = toMember(document.value);
    else if (document.of === 'follow') follow = toFollow(document.value);
    else if (document.of === 'readers') ({ stamps } = document.value);
    else directoryStamp = document.value.stamp;
  return { found, feeds, member, follow, directoryStamp, stamps };
}

/** Identifies a version of an action's content. */
export interface CachedAction {
  readonly id: ActionId;
  readonly rev: number;
}

/** A stage that leaves only ids and revisions of actions that the caller has cached. */
export function idsOfCached(cached: readonly CachedAction[]): Document {
  // Several actions may share a revision, because a migration assigns one to a whole batch.
  const isHeld = {
    $and: [
      { $in: ['$_id', literal(cached.map(({ id }) => new ObjectId(id)))] },
      { $in: ['$rev', literal(cached.map(({ rev }) => rev))] },
    ],
  };
  return { $replaceRoot: { newRoot: { $cond: [isHeld, { _id: '$_id', rev: '$rev' }, '$$ROOT'] } } };
}

/** Documents that are read together with an action. */
export interface AskedWith {
  readonly id: ActionId;
  /** `null`: of nobody. */
  readonly blocksOf: UserId | null;
  readonly memberIds: readonly UserId[];
  readonly follows: { readonly followerId: UserId; readonly refIds: readonly RefId[] } | null;
}

/** Calls whose actions are read together. */
const ASKED_AT_ONCE = 50;

/** Reads for all who ask: some may be given what others asked for. */
const withActions = ({ actions, blocks, members, follows }: Collections) =>
  gathered(
    async (asked: readonly AskedWith[]) => {
      const different = <T>(values: readonly T[]): T[] => [...new Set(values)];
      const blocking = different(asked.flatMap(({ blocksOf }) => blocksOf ?? []));
      const memberIds = different(asked.flatMap((one) => one.memberIds));
      const following = asked.flatMap((one) => one.follows ?? []);
      const isFollow = {
        followerId: { $in: different(following.map(({ followerId }) => followerId)) },
        refId: { $in: different(following.flatMap(({ refIds }) => refIds)) },
      };
      const beside = [
        {
          coll: blocks,
          $match: blocking.length > 0 && { '_id.userId': { $in: blocking } },
          // For all together: with more, each is asked about apart.
          $limit: FEW_BLOCKS + 1,
          $project: { _id: 1 },
        },
        {
          coll: members,
          $match: memberIds.length > 0 && { _id: { $in: memberIds } },
          $project: WITHOUT_DETAILS,
        },
        {
          coll: follows,
          $match: isFollow.refId.$in.length > 0 && isFollow,
          $project: { ...FOLLOW_FIELDS, followerId: 1 },
        },
      ];
      const ids = different(asked.map(({ id }) => id)).map((id) => new ObjectId(id));
      const found = await inTurns(
        actions.aggregate<WithId<ActionDocument> | Pick<BlockDocument, '_id'> | PlainMember | PlainPair>([
          { $match: { _id: { $in: ids } } },
          ...beside.flatMap(({ coll, $match, $limit, $project }) =>
            $match === false
              ? []
              : {
                  $unionWith: {
                    coll: coll.collectionName,
                    pipeline: [{ $match }, ...($limit === undefined ? [] : [{ $limit }]), { $project }],
                  },
                },
          ),
        ]),
      );
      const all = {
        actions: new Map<ActionId, Action>(),
        blocks: [] as Pick<BlockDocument, '_id'>[],
        members: new Map<UserId, Member>(),
        follows: [] as StoredFollow[],
      };
      for (const document of found)
        if ('descriptor' in document) all.actions.set(document._id.toHexString(), toAction(document));
        else if ('spans' in document) all.follows.push(toStoredFollow(document));
        else if ('otherId' in Object(document._id)) all.blocks.push(document as Pick<BlockDocument, '_id'>);
        else {
          const member = toMember(document as PlainMember);
          all.members.set(member.userId, member);
        }
      return all;
    },
    { most: ASKED_AT_ONCE, mayBeOfOne },
  );

/** Reads and writes of actions, except for their fan-out. */
export function actionsRepository(collections: Collections) {
  const { actions: collection } = collections;
  const readWith = withActions(collections);

  async function findByIds(ids: readonly ActionId[]): Promise<Action[]> {
    const documents = await inOneBatch(
      collection.find({ _id: { $in: ids.map((id) => new ObjectId(id)) } }),
      ids.length,
    );
    return documents.map(toAction);
  }

  return {
    /** Unordered; missing ones are left out. */
    findByIds,

    /**
     * Like `findByIds`, together with the stamps of the readers and of the directory, then what is stored about readers. In
     * this order: a change of a member stamps the directory first, and what is stored is never older than its stamp. One
     * round trip.
     */
    async findWithStamps(ids: readonly ActionId[], userIds: readonly UserId[] = []) {
      const { readerStamps, directoryStamps, feeds } = collections;
      const { found, ...more } = apart(
        await inOneBatch(
          collection.aggregate<WithId<ActionDocument> | StoredBeside>([
            { $match: { _id: { $in: ids.map((id) => new ObjectId(id)) } } },
            beside(readerStamps.collectionName, ALL_READERS, 'readers'),
            beside(directoryStamps.collectionName, { _id: 'directory' }, 'directory', { stamp: 1 }),
            ...(userIds.length > 0 ? [beside(feeds.collectionName, { _id: { $in: userIds } }, 'feed')] : []),
          ]),
          ids.length + userIds.length + 2,
        ),
      );
      return { ...more, actions: found.map(toAction) };
    },

    /**
     * An action, the blocks of a member, members, and follows. One round trip, also for calls at the same time; index `newest` of
     * the blocks, `pair` or `by_ref`.
     */
    async findWith(asked: AskedWith) {
      const { id, blocksOf, memberIds, follows } = asked;
      const found = await readWith(asked);
      return {
        action: found.actions.get(id) ?? null,
        blocks: toBlocks(
          found.blocks.filter(({ _id }) => _id.userId === blocksOf),
          { isWhole: blocksOf === null || found.blocks.length <= FEW_BLOCKS },
        ),
        members: memberIds.flatMap((userId) => found.members.get(userId) ?? []),
        follows: found.follows.filter(
          ({ followerId, refId }) => followerId === follows?.followerId && follows.refIds.includes(refId),
        ),
      };
    },

    /** Like `findByIds`, but returns only ids for actions that the caller has cached. One round trip. */
    async findUnlessCached(
      ids: readonly ActionId[],
      cached: readonly CachedAction[],
    ): Promise<{ readonly changed: Action[]; readonly unchanged: CachedAction[] }> {
      if (cached.length === 0) return { changed: await findByIds(ids), unchanged: [] };
      const documents = await inTurns(
        collection.aggregate<WithId<ActionDocument> | { readonly _id: ObjectId; readonly rev: number }>(
          [{ $match: { _id: { $in: ids.map((id) => new ObjectId(id)) } } }, idsOfCached(cached)],
          { batchSize: ids.length + 1 },
        ),
      );
      const changed: Action[] = [];
      const unchanged: CachedAction[] = [];
      for (const document of documents)
        if ('actorId' in document) changed.push(toAction(document));
        else unchanged.push({ id: document._id.toHexString(), rev: document.rev });
      return { changed, unchanged };
    },

    /** The actions among these that are wanted. One round trip that transfers only ids. */
    async matching(ids: readonly ActionId[], wanted: WantedActions): Promise<Set<ActionId>> {
      const documents = await inOneBatch(
        collection
          .find({ _id: { $in: ids.map((id) => new ObjectId(id)) }, ...wantedFilter(wanted) })
          .project<{ _id: ObjectId }>({ _id: 1 }),
        ids.length,
      );
      return new Set(documents.map((document) => document._id.toHexString()));
    },

    /** Revisions of those that are neither hidden nor deleted. One round trip. */
    async visibleRevisions(ids: readonly ActionId[]): Promise<Map<ActionId, number>> {
      const documents = await inOneBatch(
        collection
          .find({ _id: { $in: ids.map((id) => new ObjectId(id)) }, isHidden: false, isDeleted: false })
          .project<{ _id: ObjectId; rev: number }>({ rev: 1 }),
        ids.length,
      );
      return new Map(documents.map(({ _id, rev }) => [_id.toHexString(), rev]));
    },

    /** Newest first by `conducted`, then id, without deleted actions. Index `slice`. */
    async slice(query: SliceQuery): Promise<SliceEntry[]> {
      const { limit } = query;
      const found = collection
        .find(sliceFilter(query))
        .sort(turned(NEWEST_CONDUCTED, query.isUp))
        .limit(limit);
      return (await inOneBatch(found.project<SliceDocument>(SLICE_FIELDS), limit)).map(toSliceEntry);
    },

    /** The same, together with what is stored about a reader, and the stamp of the directory. One round trip. */
    async sliceWithReader(query: SliceQuery, userId: UserId): Promise<SliceWithReader> {
      const { members, directoryStamps, follows } = collections;
      const pair = { followerId: userId, refId: query.refId };
      const documents = await inOneBatch(
        collection.aggregate<SliceDocument | StoredBeside>([
          { $match: sliceFilter(query) },
          { $sort: turned(NEWEST_CONDUCTED, query.isUp) },
          { $limit: query.limit },
          { $project: SLICE_FIELDS },
          beside(collections.feeds.collectionName, { _id: userId }, 'feed'),
          beside(members.collectionName, { _id: userId }, 'member', WITHOUT_DETAILS),
          beside(directoryStamps.collectionName, { _id: 'directory' }, 'directory', { stamp: 1 }),
          beside(follows.collectionName, pair, 'follow', FOLLOW_FIELDS),
        ]),
        query.limit + 4,
      );
      const {
        found,
        feeds: [feed = null],
        ...more
      } = apart(documents);
      const entries = found.map(toSliceEntry);
      // A union keeps no order.
      entries.sort((a, b) => b.conducted.getTime() - a.conducted.getTime() || (a.id < b.id ? 1 : -1));
      if (query.isUp) entries.reverse();
      return { ...more, entries, feed };
    },

    /** For admins: newest first by id. */
    async list({ since, ...query }: ActionListQuery): Promise<Action[]> {
      const found = (filter: Filter<ActionDocument>): Promise<WithId<ActionDocument>[]> =>
        inTurns(collection.find(filter, upTo(query.limit)).sort(turned(NEWEST_RECORDED, query.isUp)));
      if (since === undefined) return (await found(actionListFilter(query))).map(toAction);
      const both = await Promise.all([
        found(actionListFilter({ ...query, since })),
        found({ ...actionListFilter(query), ...putOffUntil(since) }),
      ]);
      const all = new Map(both.flat().map((document) => [document._id.toHexString(), toAction(document)]));
      return [...all.values()]
        .sort((one, other) => (one.id < other.id === query.isUp ? -1 : 1))
        .slice(0, query.limit);
    },

    ...actionsOfAudience(collection),
    ...namingByActions(collection),

    ...openWork(collection),
  };
}

/** How many fan-outs there are to do. */
function openWork(collection: Collection<ActionDocument>) {
  return {
    /** Number of pending and running fan-outs, by lane. Index `claim_by_lane`. */
    async pendingByLane(): Promise<Record<Lane, number>> {
      const groups = await collection
        .aggregate<{ _id: Lane | null; count: number }>([
          {
            $match: {
              'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] },
              'fanOut.leaseUntil': { $exists: true },
            },
          },
          { $group: { _id: '$fanOut.lane', count: { $sum: 1 } } },
        ])
        .toArray();
      const counts = { URGENT: 0, LIVE: 0, BULK: 0 };
      for (const { _id, count } of groups) counts[_id ?? DEFAULT_LANE] += count;
      return counts;
    },

    /** Number of fan-outs that are not DONE, by state. Index `claim_by_lane`. */
    async openFanOuts(): Promise<Partial<Record<FanOutState, number>>> {
      const groups = await collection
        .aggregate<{ _id: FanOutState; count: number }>([
          { $match: { 'fanOut.leaseUntil': { $exists: true } } },
          { $group: { _id: '$fanOut.state', count: { $sum: 1 } } },
        ])
        .toArray();
      return Object.fromEntries(groups.map((group) => [group._id, group.count]));
    },
  };
}

export type ActionsRepository = ReturnType<typeof actionsRepository>;
