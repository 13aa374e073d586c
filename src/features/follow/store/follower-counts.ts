import { compareUtf8 } from '../../../lib/byte-text.ts';
import { gathered } from '../../../lib/gathered.ts';
import type { Collection, Filter, Document } from 'mongodb';
import type { RefId, UserId } from '../../../domain/action.ts';
import type { Ref } from '../../../domain/member.ts';
import { WITHOUT_DETAILS } from '../../../storage/documents/member-document.ts';
import { toRef, type PlainRef } from '../../directory/store/refs.ts';
import type { RefDocument } from '../../../storage/documents/directory-documents.ts';
import { duplicatePositions, isDuplicateKey, retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import { inOneBatch, unionOf } from '../../../storage/database/batches.ts';
import type { FollowDocument } from '../../../storage/documents/reader-documents.ts';
import { literal } from '../../../storage/stages/revision.ts';
import { beyond, type Stretch, turned } from '../../../storage/documents/keyset.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly followerCounts: ReturnType<typeof followerCountsRepository>;
    readonly followerPages: ReturnType<typeof followerPagesRepository>;
  }
}

/** The epoch of each ref's count, against which a change may be added; `null`: never counted from scratch. */
export type CountEpochs = ReadonlyMap<RefId, string | null>;

interface Change {
  readonly refId: RefId;
  readonly count: number;
  readonly epoch: string | null;
}

/** Equal for changes that are one change. */
function nameOf({ refId, epoch }: Change): string {
  return JSON.stringify([refId, epoch]);
}

/** The most counts that calls at the same time change together; a call for more changes them alone. */
const ADDED_AT_ONCE = 50;

export interface AddedCounts {
  readonly refused: readonly RefId[];
  readonly ref: Ref | null;
}

/**
 * Number of followers per ref. Usually a change adds to the count, which is cheap. When it is unknown whether a change was
 * added, the followers are recounted under a new epoch, which fences off all changes that began before: they find another
 * epoch and must recount, too. So no change is added twice, however late its writer comes.
 */
export function followerCountsRepository(collection: Collection<RefDocument>) {
  /** One write, and one read if it was of several refs. */
  const addAll = gathered(
    async (lists: readonly (readonly Change[])[]) => {
      const sums = new Map<string, Change>();
      for (const change of lists.flat()) {
        const count = change.count + (sums.get(nameOf(change))?.count ?? 0);
        sums.set(nameOf(change), { ...change, count });
      }
      // In one order in all processes: of two writes that meet, one waits for the other.
      const inOrder = [...sums].sort(([name], [other]) => (name < other ? -1 : 1));
      const operations = inOrder.map(([, { refId, count, epoch }]) => ({
        filter: atEpoch(refId, epoch),
        update: { $inc: { followerCount: count }, $setOnInsert: { version: 0 } },
        // With a different epoch the document neither matches nor can be inserted, which identifies the refused ones.
        upsert: true,
      }));
      const [first, ...others] = operations;
      const refused = new Set<string>();
      try {
        if (first !== undefined && others.length === 0) {
          const { filter, update, upsert } = first;
          const projection = WITHOUT_DETAILS;
          const after = await collection.findOneAndUpdate(filter, update, {
            ...{ upsert, projection, returnDocument: 'after' },
          });
          return { refused, refs: after === null ? [] : [toRef(after)] };
        }
        await collection.bulkWrite(
          operations.map((updateOne) => ({ updateOne })),
          { ordered: false },
        );
      } catch (error) {
        const positions = others.length === 0 && isDuplicateKey(error) ? [0] : duplicatePositions(error);
        for (const position of positions) refused.add(inOrder[position]?.[0] ?? '');
      }
      const single = lists.flatMap((changes) => (changes.length === 1 ? changes : []));
      const asked = new Set(single.flatMap((change) => (refused.has(nameOf(change)) ? [] : change.refId)));
      if (asked.size === 0) return { refused, refs: [] };
      const found = collection.find({ _id: { $in: [...asked] } }).project<PlainRef>(WITHOUT_DETAILS);
      return { refused, refs: (await inOneBatch(found, asked.size)).map(toRef) };
    },
    { most: ADDED_AT_ONCE, sizeOf: ({ length }) => length },
  );

  return {
    /** Read before the follow is written. Leaves out refs whose followers are being recounted. */
    async epochs(refIds: readonly RefId[]): Promise<CountEpochs> {
      if (refIds.length === 0) return new Map();
      const documents = await inOneBatch(
        collection
          .find({ _id: { $in: [...refIds] } })
          .project<Pick<RefDocument, '_id' | 'countEpoch' | 'isCounting'>>({ countEpoch: 1, isCounting: 1 }),
        refIds.length,
      );
      const epochs = new Map<RefId, string | null>(refIds.map((refId) => [refId, null]));
      for (const { _id, countEpoch, isCounting } of documents)
        if (isCounting === true) epochs.delete(_id);
        else epochs.set(_id, countEpoch ?? null);
      return epochs;
    },

    /**
     * Adds to counts whose epoch is unchanged, in one write for calls at the same time. Returns the refs that must be
     * recounted instead and, if it was one, the ref with its new count; if there were other refs, another read finds it.
     */
    async add(counts: ReadonlyMap<RefId, number>, epochs: CountEpochs): Promise<AddedCounts> {
      const refused: RefId[] = [];
      const changes: Change[] = [];
      for (const [refId, count] of counts) {
        const epoch = epochs.get(refId);
        if (epoch === undefined) refused.push(refId);
        else changes.push({ refId, count, epoch });
      }
      if (changes.length === 0) return { refused, ref: null };
      const all = await addAll(changes);
      for (const change of changes) if (all.refused.has(nameOf(change))) refused.push(change.refId);
      const [one, ...others] = changes;
      const isAdded = one !== undefined && others.length === 0 && !all.refused.has(nameOf(one));
      return { refused, ref: (isAdded ? all.refs.find(({ refId }) => refId === one.refId) : null) ?? null };
    },

    /** Starts a recount: changes that began before can no longer be added. */
    async begin(refId: RefId, epoch: string): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne(
          { _id: refId },
          {
            $set: { countEpoch: epoch, isCounting: true },
            $setOnInsert: { version: 0, followerCount: 0 },
          },
          { upsert: true },
        ),
      );
    },

    /** Stores the result. `false` if another recount has started meanwhile, whose result includes this one. */
    async end(refId: RefId, epoch: string, count: number): Promise<boolean> {
      const { matchedCount } = await collection.updateOne(
        { _id: refId, countEpoch: epoch, isCounting: true },
        { $set: { followerCount: count }, $unset: { isCounting: 1 } },
      );
      return matchedCount === 1;
    },
  };
}

function atEpoch(refId: RefId, epoch: string | null): Filter<RefDocument> {
  return { _id: refId, countEpoch: epoch ?? { $exists: false }, isCounting: { $exists: false } };
}

export interface FollowerSlice extends Stretch<{ readonly userId: UserId }> {
  readonly refId: RefId;
}

const BY_FOLLOWER = { followerId: 1 } as const;

export function followerPagesRepository(collection: Collection<FollowDocument>) {
  return {
    /**
     * Current followers of several refs by id, one page per ref, in one query. Also reads former followers. Index `by_ref`.
     */
    async read(slices: readonly FollowerSlice[]): Promise<UserId[][]> {
      if (slices.length === 0) return [];
      const documents = await collection
        .aggregate<{ readonly slice: number; readonly followerId: UserId }>(
          unionOf(collection, slices.map(stagesOf)),
          { hint: 'by_ref' },
        )
        .toArray();
      const pages: UserId[][] = slices.map(() => []);
      for (const { slice, followerId } of documents) pages[slice]?.push(followerId);
      // A union keeps no order.
      return pages.map((page, n) => {
        page.sort(compareUtf8);
        return slices[n]?.isUp === true ? page.reverse() : page;
      });
    },
  };
}

function stagesOf({ refId, from, isUp, limit }: FollowerSlice, slice: number): Document[] {
  const order = turned(BY_FOLLOWER, isUp);
  return [
    { $match: { refId, active: true, ...beyond(order, from && { followerId: from.userId }) } },
    { $sort: order },
    { $limit: limit },
    { $project: { _id: 0, followerId: 1, slice: literal(slice) } },
  ];
}
