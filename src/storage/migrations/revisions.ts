import { ObjectId } from 'mongodb';
import { revised } from '../stages/revision.ts';
import type { Migration } from './migration.ts';

/** From this version on every writing process changes an action's revision with every change. */
export const REVISED_SINCE = 4;

/** Adds revisions to older actions. Until then they are always read in full. */
export const revisionsMigration: Migration = {
  version: REVISED_SINCE,
  name: 'actions have revisions',
  async batch({ actions }, after, limit) {
    const found = await actions
      .find(after === null ? {} : { _id: { $gt: new ObjectId(after) } })
      .sort({ _id: 1 })
      .project<{ _id: ObjectId }>({ _id: 1 })
      .limit(limit)
      .toArray();
    const last = found.length < limit ? undefined : found.at(-1);
    if (found.length > 0)
      // One revision for the whole batch: it only has to differ from each action's earlier and later ones.
      await actions.updateMany(
        { _id: { $in: found.map(({ _id }) => _id) }, rev: { $exists: false } },
        revised({}),
      );
    return { after: last?._id.toHexString() ?? null, looked: found.length };
  },
};
