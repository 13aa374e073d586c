import { ObjectId } from 'mongodb';
import { groupKeyAcrossTenants, groupKeyOf } from '../../descriptors/group-key.ts';
import { tenantOf } from '../../domain/tenant.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { revised } from '../stages/revision.ts';
import type { Migration } from './migration.ts';

type Grouped = Pick<ActionDocument, '_id' | 'actorId' | 'descriptor' | 'conducted' | 'groupKey'>;

/**
 * Replaces group keys that ignore the tenant by keys that include it. Until then older and newer actions form two groups.
 * Keys that do not match the current declaration stay.
 */
export const tenantGroupsMigration: Migration = {
  version: 7,
  name: 'groups are of one tenant',
  async batch({ actions }, after, limit) {
    const found = await actions
      .find(after === null ? {} : { _id: { $gt: new ObjectId(after) } })
      .sort({ _id: 1 })
      .project<Grouped>({ actorId: 1, descriptor: 1, conducted: 1, groupKey: 1 })
      .limit(limit)
      .toArray();
    const writes = found.flatMap((document) => {
      const { _id, groupKey: before } = document;
      if (before === undefined || tenantOf(document.actorId) === null) return [];
      const groupKey = groupKeyOf(document);
      if (groupKey === null || groupKeyAcrossTenants(document) !== before) return [];
      // Matches the action as read: an edit that moves it to another group sets the new key itself.
      return [{ updateOne: { filter: { _id, groupKey: before }, update: revised({ $set: { groupKey } }) } }];
    });
    if (writes.length > 0) await actions.bulkWrite(writes, { ordered: false });
    const last = found.length < limit ? undefined : found.at(-1);
    return { after: last?._id.toHexString() ?? null, looked: found.length };
  },
};
