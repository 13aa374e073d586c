import { ObjectId } from 'mongodb';
import type { ActionDocument } from '../documents/documents.ts';
import { forgetPublications, isKeyed, notePublications } from '../actions/publications.ts';
import type { Migration } from './migration.ts';

/**
 * From this version on `publications` contains every used idempotency key, and every process writes it: the former unique
 * indexes are no longer needed.
 */
export const PUBLISHED_SINCE = 6;

type Publication = Pick<ActionDocument, '_id' | 'actorId' | 'idempotencyKey'>;

/** Adds the idempotency keys of older actions. Until then keys are also looked up in the actions. */
export const publicationsMigration: Migration = {
  version: PUBLISHED_SINCE,
  name: 'idempotency keys have a collection of their own',
  async batch({ actions, publications }, after, limit) {
    const found = await actions
      .find(after === null ? {} : { _id: { $gt: new ObjectId(after) } })
      .sort({ _id: 1 })
      .project<Publication>({ actorId: 1, idempotencyKey: 1 })
      .limit(limit)
      .toArray();
    const keyed = found.filter(isKeyed);
    await notePublications(publications, keyed);
    if (keyed.length > 0) {
      // An erasure may have removed the key from its action before the record was written: remove the record then.
      const still = await actions
        .find({ _id: { $in: keyed.map(({ _id }) => _id) } })
        .project<Publication>({ actorId: 1, idempotencyKey: 1 })
        .toArray();
      const kept = new Set(still.filter(isKeyed).map(({ _id }) => _id.toHexString()));
      await forgetPublications(
        publications,
        keyed.filter(({ _id }) => !kept.has(_id.toHexString())),
      );
    }
    const last = found.length < limit ? undefined : found.at(-1);
    return { after: last?._id.toHexString() ?? null, looked: found.length };
  },
};
