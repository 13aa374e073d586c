import type { ErasureSubject } from '../../domain/erasure.ts';
import type { MuteKind } from '../../domain/mute.ts';
import { userIds } from '../database/ids-of.ts';
import type { Collections } from '../database/mongo.ts';
import type { BookmarkDocument, ItemMarkDocument } from '../documents/reader-documents.ts';

/** A member's marks and mutes, and mutes of the member. See `member-traces.ts`. */
export function readerTraces({
  bookmarks,
  feeds,
  itemMarks,
}: Pick<Collections, 'bookmarks' | 'feeds' | 'itemMarks'>) {
  return {
    /** Index `state`. */
    async removeItemMarks({ memberId }: ErasureSubject, limit: number): Promise<number> {
      const found = await itemMarks
        .find({ '_id.userId': memberId })
        .project<Pick<ItemMarkDocument, '_id'>>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (found.length > 0) await itemMarks.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },

    /** Index `newest`. */
    async removeBookmarks({ memberId }: ErasureSubject, limit: number): Promise<number> {
      const found = await bookmarks
        .find({ '_id.userId': memberId })
        .project<Pick<BookmarkDocument, '_id'>>({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      if (found.length > 0) await bookmarks.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },

    /**
     * Readers who mute the member then mute the pseudonym, otherwise muted actions would appear in their feeds. Phrases are
     * the readers' own words. Indexes `muted`, `mutes`.
     */
    async anonymiseMutes({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const found = await userIds(feeds.find({ muted: memberId }).limit(limit));
      if (found.length > 0)
        await feeds.updateMany(
          { _id: { $in: found }, muted: memberId },
          { $set: { 'muted.$[who]': pseudonym } },
          { arrayFilters: [{ who: memberId }] },
        );
      const named = { value: memberId, kind: { $in: ['MEMBER', 'REF'] as MuteKind[] } };
      const others = await userIds(feeds.find({ mutes: { $elemMatch: named } }).limit(limit));
      if (others.length > 0)
        await feeds.updateMany(
          { _id: { $in: others }, mutes: { $elemMatch: named } },
          { $set: { 'mutes.$[one].value': pseudonym } },
          { arrayFilters: [{ 'one.value': memberId, 'one.kind': named.kind }] },
        );
      return found.length + others.length;
    },
  };
}
