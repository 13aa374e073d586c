import type { Collection, Document } from 'mongodb';
import type { RefId, UserId } from '../../domain/action.ts';
import type { FollowDocument } from '../documents/reader-documents.ts';
import { literal } from '../stages/literal.ts';

export interface FollowerSlice {
  readonly refId: RefId;
  readonly afterId: UserId | null;
  readonly limit: number;
}

export function followerPagesRepository(collection: Collection<FollowDocument>) {
  return {
    /**
     * Current followers of several refs by id, one page per ref, in one query. Also reads former followers. Index `by_ref`.
     */
    async read(slices: readonly FollowerSlice[]): Promise<UserId[][]> {
      const [first, ...others] = slices.map(stagesOf);
      if (first === undefined) return [];
      const documents = await collection
        .aggregate<{ readonly slice: number; readonly followerId: UserId }>(
          [
            ...first,
            ...others.map((pipeline) => ({ $unionWith: { coll: collection.collectionName, pipeline } })),
          ],
          { hint: 'by_ref' },
        )
        .toArray();
      const pages: UserId[][] = slices.map(() => []);
      for (const { slice, followerId } of documents) pages[slice]?.push(followerId);
      return pages;
    },
  };
}

function stagesOf({ refId, afterId, limit }: FollowerSlice, slice: number): Document[] {
  return [
    { $match: { refId, active: true, ...(afterId === null ? {} : { followerId: { $gt: afterId } }) } },
    { $sort: { followerId: 1 } },
    { $limit: limit },
    { $project: { _id: 0, followerId: 1, slice: literal(slice) } },
  ];
}
