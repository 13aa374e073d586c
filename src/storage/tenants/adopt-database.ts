import { isDeepStrictEqual } from 'node:util';
import type { AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { plainId, type Tenant } from '../../domain/tenant.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { erasureKeyOf } from '../privacy/erasures.ts';
import { latestVersion, MIGRATIONS } from '../migrations/registry.ts';
import type { Database } from '../database/mongo.ts';
import { processesRepository } from '../database/processes.ts';
import { isKeyed, notePublications } from '../actions/publications.ts';
import { schemaVersionRepository } from '../database/schema-version.ts';
import { ADOPTED } from './adopted-documents.ts';
import { TENANT_PARTS } from './tenant-parts.ts';

const BATCH = 500;

/** Any document: what its id is made of differs. */
interface Stored {
  readonly _id: ObjectId;
  readonly [field: string]: unknown;
}

export class AdoptionRefused extends Error {
  override readonly name = 'AdoptionRefused';
}

/**
 * Makes all data of a database without tenants those of one: every id is put behind it, in place. Stored feeds are thrown away,
 * and are made again from the actions. No process may run on the database, and none can start before it is done. Cut off
 * anywhere and repeated, it comes to the same end.
 * @param onProgress collection, and how many of its documents have been changed
 * @returns how many documents were changed
 * @throws AdoptionRefused
 */
export async function adoptDatabase(
  { db, collections, isSharded }: Pick<Database, 'db' | 'collections' | 'isSharded'>,
  tenant: Tenant,
  options: { readonly now: Date; readonly onProgress: (collection: string, changed: number) => void },
): Promise<number> {
  if (isSharded)
    throw new AdoptionRefused('A sharded database cannot be adopted: its shard keys would change');
  await begin(collections, tenant, options.now);
  let changed = 0;
  for (const { collection, isFeed } of TENANT_PARTS) {
    if (isFeed === true) {
      await db.collection(collection).deleteMany({});
      continue;
    }
    // Once more where a cursor may have passed something by that was written beside it.
    for (let found = await walk(collection); found > 0; found = await walk(collection)) changed += found;
  }
  await nameErasuresAgain();
  await notePublicationsAgain();
  await collections.feedEpochs.updateOne({ _id: 'feeds' }, { $inc: { epoch: 1 } });
  await schemaVersionRepository(collections).finishAdoption(tenant);
  return changed;

  async function walk(collection: string): Promise<number> {
    const adopt = ADOPTED.get(collection);
    if (adopt === undefined) throw new Error(`Nobody knows how to adopt ${collection}`);
    const documents = db.collection<Stored>(collection);
    const cursor = documents.find({}).batchSize(BATCH);
    let found = 0;
    try {
      while (await cursor.hasNext()) {
        const writes = cursor.readBufferedDocuments().flatMap((document) => {
          const adopted = adopt(tenant, document) as Stored;
          return isSame(document, adopted) ? [] : [replacing(document, adopted)];
        });
        // What gets another id is there twice for a moment, and never not at all.
        if (writes.length > 0) await documents.bulkWrite(writes.flat(), { ordered: true });
        found += writes.length;
        if (writes.length > 0) options.onProgress(collection, found);
      }
    } finally {
      await cursor.close();
    }
    return found;
  }

  /** Events name an erasure by a hash of the member's id, as long as somebody knows whose it is. */
  async function nameErasuresAgain(): Promise<void> {
    const { erasures, hostEvents } = collections;
    for (const { _id, memberId = '' } of await erasures.find({ memberId: { $exists: true } }).toArray())
      await hostEvents.updateMany(
        { 'facts.erasureKey': erasureKeyOf(plainId(memberId)) },
        { $set: { 'facts.erasureKey': _id } },
      );
  }

  /** They are hashes of the actor's id: made again from the actions, which are what counts. */
  async function notePublicationsAgain(): Promise<void> {
    const { actions, publications } = collections;
    await publications.deleteMany({});
    const cursor = actions
      .find({ idempotencyKey: { $exists: true } })
      .project<Pick<ActionDocument, '_id' | 'actorId' | 'idempotencyKey'>>({ actorId: 1, idempotencyKey: 1 })
      .batchSize(BATCH);
    try {
      while (await cursor.hasNext())
        await notePublications(publications, cursor.readBufferedDocuments().filter(isKeyed));
    } finally {
      await cursor.close();
    }
  }
}

async function begin(collections: Database['collections'], tenant: Tenant, now: Date): Promise<void> {
  const schemaVersion = schemaVersionRepository(collections);
  const before = await schemaVersion.state();
  if (before === null) throw new AdoptionRefused('The database is empty: there is nothing to adopt');
  if (before.hasTenants) throw new AdoptionRefused('The database has tenants already');
  if (before.adopting !== null && before.adopting !== tenant)
    throw new AdoptionRefused(`The database is being made that of the tenant ${before.adopting}`);
  if (!(await schemaVersion.beginAdoption(tenant, latestVersion(MIGRATIONS))))
    throw new AdoptionRefused(
      'A migration has not come to its end: run a worker of this release until it has, then end it',
    );
  const processes = processesRepository(collections);
  await processes.purge(now);
  const running = await processes.count(now);
  if (running === 0) return;
  if (before.adopting === null) await schemaVersion.leaveAdoption(tenant);
  throw new AdoptionRefused(
    `${String(running)} processes run on the database: end them first; one that died is taken for gone after 90 seconds`,
  );
}

function isSame(document: Stored, adopted: Stored): boolean {
  const { rev: _rev, ...before } = document;
  const { rev: _newRev, ...after } = adopted;
  return isDeepStrictEqual(before, after);
}

function replacing(document: Stored, adopted: Stored): AnyBulkWriteOperation<Stored>[] {
  const { _id: before } = document;
  const { _id: after, ...replacement } = adopted;
  if (isDeepStrictEqual(before, after)) return [{ replaceOne: { filter: { _id: before }, replacement } }];
  return [
    { replaceOne: { filter: { _id: after }, replacement, upsert: true } },
    { deleteOne: { filter: { _id: before } } },
  ];
}
