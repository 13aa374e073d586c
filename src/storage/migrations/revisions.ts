import { ObjectId } from 'mongodb';
import { revised } from '../stages/revision.ts';
import type { Migration } from './migration.ts';

/** From this version on every process that writes gives an action another revision with every change. */
export const REVISED_SINCE = 4;

/** Gives the actions of before a revision. Until then they are read whole each time. */
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
      // One for all of them: it only has to differ from what each had before and gets later.
      await actions.updateMany(
        { _id: { $in: found.map(({ _id }) => _id) }, rev: { $exists: false } },
        revised({}),
      );
    return { after: last?._id.toHexString() ?? null, looked: found.length };
  },
};
