import type { ErasureSubject } from '../../domain/erasure.ts';
import type { MuteKind } from '../../domain/mute.ts';
import { userIds } from '../database/ids-of.ts';
import type { Collections } from '../database/mongo.ts';

/** Mutes of the member. See `member-traces.ts`. */
export function readerTraces({ feeds }: Collections) {
  return {
    /**
     * Readers who mute the member then mute the pseudonym, otherwise muted actions would appear in their feeds. Phrases are
     * the readers' own words. Index `mutes`.
     */
    async anonymiseMutes({ memberId, pseudonym }: ErasureSubject, limit: number): Promise<number> {
      const named = { value: memberId, kind: { $in: ['MEMBER', 'REF'] as MuteKind[] } };
      const found = await userIds(feeds.find({ mutes: { $elemMatch: named } }).limit(limit));
      if (found.length > 0)
        await feeds.updateMany(
          { _id: { $in: found }, mutes: { $elemMatch: named } },
          { $set: { 'mutes.$[one].value': pseudonym } },
          { arrayFilters: [{ 'one.value': memberId, 'one.kind': named.kind }] },
        );
      return found.length;
    },
  };
}
