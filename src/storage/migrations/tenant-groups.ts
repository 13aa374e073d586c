import { ObjectId } from 'mongodb';
import { groupKeyAcrossTenants, groupKeyOf } from '../../descriptors/group-key.ts';
import { tenantOf } from '../../domain/tenant.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { revised } from '../stages/revision.ts';
import type { Migration } from './migration.ts';

type Grouped = Pick<ActionDocument, '_id' | 'actorId' | 'descriptor' | 'conducted' | 'groupKey'>;

/**
 * Gives the actions of tenants the key of a group of their tenant where they still have the one that is the same in all. Until
 * then what was recorded before and what came since are two groups. A key of another declaration stays as it is.
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
      // As it was read: an edit that moves it to another group gives it the key of that.
      return [{ updateOne: { filter: { _id, groupKey: before }, update: revised({ $set: { groupKey } }) } }];
    });
    if (writes.length > 0) await actions.bulkWrite(writes, { ordered: false });
    const last = found.length < limit ? undefined : found.at(-1);
    return { after: last?._id.toHexString() ?? null, looked: found.length };
  },
};
