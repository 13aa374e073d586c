import { createHash } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import type { ActionDocument } from '../../../storage/documents/documents.ts';
import { duplicatePositions, retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import type { Declared } from '../../../storage/documents/declaration.ts';

export const PUBLICATIONS: Declared<'publications'> = {
  name: 'publications',
  holds: 'the action that an idempotency key has made',
  ids: {},
  indexes: [],
  shard: { key: { _id: 1 }, serves: 'an idempotency key; ids are hashes and therefore spread evenly' },
  tenant: { because: 'found by the actions, and removed with them' },
  erase: ['ACTIONS'],
  export: { because: 'a hash of what the actions say' },
  action: { because: 'an action with an idempotency key leaves a tombstone; made again when it comes back' },
};

interface Keyed {
  readonly actorId: string;
  readonly idempotencyKey: string;
}

/** An action as far as it tells which publication made it. */
export interface Published {
  readonly _id: ObjectId;
  readonly actorId: string;
  readonly idempotencyKey?: string;
}

/** A hash that reveals neither actor nor key and spreads evenly over shards. */
export function publicationId({ actorId, idempotencyKey }: Keyed): string {
  return createHash('sha256')
    .update(JSON.stringify([actorId, idempotencyKey]))
    .digest('base64url');
}

export function isKeyed<D extends { readonly idempotencyKey?: string }>(
  document: D,
): document is D & { readonly idempotencyKey: string } {
  return document.idempotencyKey !== undefined;
}

/**
 * Assigns each action the id belonging to its idempotency key: its own for a new key, otherwise the id of the first attempt.
 * Written before the action, whose insert is the commit point: if interrupted in between, the next attempt inserts the
 * action under the same id. So keys are unique without a unique index on actions. One round trip if an action has a key, two
 * if a key is known.
 * @returns the documents in their order, and which of them have a known key.
 */
export async function fixIds(
  publications: Collections['publications'],
  documents: readonly ActionDocument[],
): Promise<{ readonly fixed: ActionDocument[]; readonly known: ReadonlySet<ActionDocument> }> {
  const keyed = documents.filter(isKeyed);
  const known = new Map<string, ObjectId>();
  if (keyed.length > 0) {
    const claims = keyed.map((document) => ({ _id: publicationId(document), actionId: document._id }));
    try {
      await publications.insertMany(claims, { ordered: false });
    } catch (error) {
      const ids = duplicatePositions(error).flatMap((position) => claims[position]?._id ?? []);
      for (const { _id, actionId } of await publications.find({ _id: { $in: ids } }).toArray())
        known.set(_id, actionId);
    }
  }
  const replayed = new Set<ActionDocument>();
  const fixed = documents.map((document) => {
    const first = isKeyed(document) ? known.get(publicationId(document)) : undefined;
    if (first === undefined || first.equals(document._id)) return document;
    const renumbered = { ...document, _id: first };
    replayed.add(renumbered);
    return renumbered;
  });
  return { fixed, known: replayed };
}

/** Records the ids of keys, replacing existing records. */
export async function notePublications(
  publications: Collections['publications'],
  actions: readonly (Keyed & Published)[],
): Promise<void> {
  if (actions.length === 0) return;
  await publications.bulkWrite(
    actions.map((action) => ({
      updateOne: {
        filter: { _id: publicationId(action) },
        update: { $set: { actionId: action._id } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
}

/** Records the ids of keys that have no record: another action may have been published under a key meanwhile. */
export async function keepPublications(
  publications: Collections['publications'],
  actions: readonly (Keyed & Published)[],
): Promise<void> {
  if (actions.length === 0) return;
  await retryOnDuplicateKey(() =>
    publications.bulkWrite(
      actions.map((action) => ({
        updateOne: {
          filter: { _id: publicationId(action) },
          update: { $setOnInsert: { actionId: action._id } },
          upsert: true,
        },
      })),
      { ordered: false },
    ),
  );
}

/** Deletes the records of these keys. */
export async function forgetPublications(
  publications: Collections['publications'],
  actions: readonly Keyed[],
): Promise<void> {
  if (actions.length === 0) return;
  await publications.deleteMany({ _id: { $in: actions.map(publicationId) } });
}
