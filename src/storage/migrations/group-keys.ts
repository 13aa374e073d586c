import { ObjectId } from 'mongodb';
import { groupKeyOf } from '../../descriptors/group-key.ts';
import type { Migration } from './migration.ts';

/** Adds group keys to older actions. Until then each of them is found only by its own id. */
export const groupKeysMigration: Migration = {
  version: 3,
  name: 'actions know their group',
  async batch({ actions }, after, limit) {
    const found = await actions
      .find(after === null ? {} : { _id: { $gt: new ObjectId(after) } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    const writes = found.flatMap((document) => {
      const groupKey = groupKeyOf(document);
      if (groupKey === null || groupKey === document.groupKey) return [];
      const { _id, descriptor, conducted } = document;
      // Matches the action as read: a concurrent change adds the key itself.
      return [{ updateOne: { filter: { _id, descriptor, conducted }, update: { $set: { groupKey } } } }];
    });
    if (writes.length > 0) await actions.bulkWrite(writes, { ordered: false });
    const last = found.length < limit ? undefined : found.at(-1);
    return { after: last?._id.toHexString() ?? null, looked: found.length };
  },
};
