import {
  type FollowPair,
  toSpans,
  toFollow,
  type StoredFollow,
  toStoredFollow,
} from '../../../storage/documents/follow-document.ts';
import type { Collection, Filter } from 'mongodb';
import type { RefId, UserId } from '../../../domain/action.ts';
import type { FollowSpan } from '../../../domain/follow-span.ts';
import type { Follow } from '../../../domain/viewer.ts';
import type { FollowDocument } from '../../../storage/documents/reader-documents.ts';
import { inOneBatch, inTurns } from '../../../storage/database/batches.ts';

export interface StoredFollower {
  readonly followerId: UserId;
  readonly spans: readonly FollowSpan[];
}

type FollowerRow = Pick<FollowDocument, 'refId' | 'followerId' | 'spans'>;

function toFollower({ followerId, spans }: FollowerRow): StoredFollower {
  return { followerId, spans: toSpans(spans) };
}

/** A page of a ref's followers, in order of id. */
export interface FollowerPage {
  readonly followers: readonly StoredFollower[];
  /** Where the next page starts; `null`: at the end. */
  readonly next: UserId | null;
}

const REFS_AT_ONCE = 1_000;
/** Usually few followers are assigned: reading all of them is faster than naming hundreds of readers in a query. */
const FEW_ASSIGNED = 100;

/** Readers who follow a ref. Index `by_ref`. */
function readsOfFollowers(collection: Collection<FollowDocument>) {
  /** Reads one more than the limit: without it, a full page would need another read to find out whether it is the last. */
  async function rowsOf(
    filter: Filter<FollowDocument>,
    limit: number,
  ): Promise<{ readonly rows: readonly FollowerRow[]; readonly isCut: boolean }> {
    const found = await collection
      .find(filter)
      // The other index has the wanted order too, but would scan the followers of every ref.
      .hint('by_ref')
      .sort(typeof filter.refId === 'string' ? { followerId: 1 } : { refId: 1, followerId: 1 })
      .project<FollowerRow>({ _id: 0, refId: 1, followerId: 1, spans: 1 })
      .limit(limit + 1)
      .batchSize(limit + 1)
      .toArray();
    return { rows: found.slice(0, limit), isCut: found.length > limit };
  }

  return {
    /** Current and former followers of the ref, in order of id, after `afterId`. */
    async followers(refId: RefId, afterId: UserId | null, limit: number): Promise<FollowerPage> {
      const filter = { refId, ...(afterId === null ? {} : { followerId: { $gt: afterId } }) };
      const { rows, isCut } = await rowsOf(filter, limit);
      return { followers: rows.map(toFollower), next: isCut ? (rows.at(-1)?.followerId ?? null) : null };
    },

    /**
     * The first followers of several refs, so many in total: refs come in order of id, as in the index, and refs beyond the
     * limit are left out.
     */
    async firstFollowers(refIds: readonly RefId[], limit: number): Promise<ReadonlyMap<RefId, FollowerPage>> {
      const { rows, isCut } = await rowsOf({ refId: { $in: [...refIds] } }, limit);
      const last = rows.at(-1);
      const lists = new Map<RefId, StoredFollower[]>(isCut ? [] : refIds.map((refId) => [refId, []]));
      for (const row of rows) {
        const list = lists.get(row.refId);
        if (list === undefined) lists.set(row.refId, [toFollower(row)]);
        else list.push(toFollower(row));
      }
      return new Map(
        Array.from(lists, ([refId, followers]) => [
          refId,
          { followers, next: isCut && last?.refId === refId ? last.followerId : null },
        ]),
      );
    },

    async countFollowers(refId: RefId): Promise<number> {
      return collection.countDocuments({ refId, active: true });
    },
  };
}

/** The follows of readers. Index `pair`. */
function readsOfPairs(collection: Collection<FollowDocument>) {
  async function find(followerId: UserId, refIds: readonly RefId[]): Promise<Follow[]> {
    const documents = await inOneBatch(
      collection.find({ followerId, refId: { $in: [...refIds] } }).hint('pair'),
      refIds.length,
    );
    return documents.map(toFollow);
  }

  async function among(followerIds: readonly UserId[], refIds: readonly RefId[]): Promise<StoredFollow[]> {
    const documents = await collection
      .find({
        followerId: { $in: [...new Set(followerIds)] },
        refId: { $in: [...new Set(refIds)] },
      })
      .hint('pair')
      .toArray();
    return documents.map(toStoredFollow);
  }

  return {
    /** The reader's follows of the given refs. */
    find,

    /** Follows by any of these readers of any of these refs. */
    async findPairs(pairs: readonly FollowPair[]): Promise<StoredFollow[]> {
      const refIds = pairs.map(({ refId }) => refId);
      const followerIds = [...new Set(pairs.map(({ followerId }) => followerId))];
      const [one] = followerIds;
      if (one === undefined || followerIds.length > 1) return among(followerIds, refIds);
      return (await find(one, refIds)).map((follow) => ({ ...follow, followerId: one }));
    },

    /** These readers' follows of these members, by reader; no query if either list is empty. One round trip per 1,000 members. */
    async amongPassers(
      followerIds: readonly UserId[],
      passerIds: readonly UserId[],
    ): Promise<ReadonlyMap<UserId, readonly Follow[]>> {
      const byFollower = new Map<UserId, Follow[]>();
      if (followerIds.length === 0) return byFollower;
      for (let from = 0; from < passerIds.length; from += REFS_AT_ONCE) {
        const found = await among(followerIds, passerIds.slice(from, from + REFS_AT_ONCE));
        for (const { followerId, ...follow } of found)
          byFollower.set(followerId, [...(byFollower.get(followerId) ?? []), follow]);
      }
      return byFollower;
    },
  };
}

/** More than most readers follow: one round trip. */
const ALL_AT_ONCE = 10_000;

/** All that readers follow. Index `pair`. */
function readsOfAll(collection: Collection<FollowDocument>) {
  return {
    /** All current and former follows of the readers who have any. */
    async all(followerIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly Follow[]>> {
      const [first, ...others] = followerIds;
      if (first === undefined) return new Map();
      const followerId = others.length === 0 ? first : { $in: [...followerIds] };
      const documents = await inTurns(collection.find({ followerId }).hint('pair').batchSize(ALL_AT_ONCE));
      const all = new Map<UserId, Follow[]>();
      for (const document of documents) {
        const found = all.get(document.followerId);
        if (found === undefined) all.set(document.followerId, [toFollow(document)]);
        else found.push(toFollow(document));
      }
      return all;
    },

    /** The users among these who follow or ever followed anything. */
    async followersAmong(userIds: readonly UserId[]): Promise<UserId[]> {
      return collection.distinct('followerId', { followerId: { $in: [...userIds] } });
    },
  };
}

/** Follows that hosts assigned to readers. Index `assigned`. */
function readsOfAssigned(collection: Collection<FollowDocument>) {
  /** @param limit 0: no limit */
  async function assignedTo(
    refIds: readonly RefId[],
    filter: Filter<FollowDocument>,
    limit: number,
  ): Promise<FollowDocument[]> {
    return collection
      .find({ refId: { $in: [...new Set(refIds)] }, ...filter, isAssigned: true, active: true })
      .hint('assigned')
      .limit(limit)
      .toArray();
  }

  return {
    /** These readers' assigned follows of these refs. One round trip, two if very many readers are assigned to the refs. */
    async assignedAmong(followerIds: readonly UserId[], refIds: readonly RefId[]): Promise<StoredFollow[]> {
      if (followerIds.length === 0 || refIds.length === 0) return [];
      const wanted = new Set(followerIds);
      const isAsked = wanted.size <= FEW_ASSIGNED;
      const some = isAsked ? [] : await assignedTo(refIds, {}, FEW_ASSIGNED + 1);
      const found =
        isAsked || some.length > FEW_ASSIGNED
          ? await assignedTo(refIds, { followerId: { $in: [...wanted] } }, 0)
          : some.filter(({ followerId }) => wanted.has(followerId));
      return found.map(toStoredFollow);
    },
  };
}

/** Read-only access to follows. */
export function followReads(collection: Collection<FollowDocument>) {
  return {
    ...readsOfFollowers(collection),
    ...readsOfPairs(collection),
    ...readsOfAll(collection),
    ...readsOfAssigned(collection),
  };
}
