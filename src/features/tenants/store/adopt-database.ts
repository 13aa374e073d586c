import { isDeepStrictEqual } from 'node:util';
import type { AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { plainId, type Tenant } from '../../../domain/tenant.ts';
import { erasureKeyOf } from '../../erasure/store/erasures.ts';
import { latestVersion, MIGRATIONS } from '../../../storage/migrations/migration.ts';
import type { Database } from '../../../storage/database/mongo.ts';
import { processesRepository } from '../../../storage/database/processes.ts';
import { isKeyed, notePublications, type Published } from '../../publish/store/publishing.ts';
import { schemaVersionRepository } from '../../../storage/database/schema-version.ts';
import type { Declaration } from '../../../storage/documents/declaration.ts';
import { inTenant, mapIds } from '../../../storage/documents/ids.ts';

const BATCH = 500;

/** Any document, whatever its id consists of. */
interface Stored {
  readonly _id: ObjectId;
  readonly [field: string]: unknown;
}

export class AdoptionRefused extends Error {
  override readonly name = 'AdoptionRefused';
}

/**
 * Assigns all data of a database without tenants to one tenant: adds the prefix to every id in place. Stored feeds are
 * deleted, and rebuilt from the actions later. No process may use the database meanwhile, and none can start before it is
 * done. Safe to interrupt and repeat.
 * @param onProgress collection, and number of its documents changed
 * @returns number of documents changed
 * @throws AdoptionRefused
 */
export async function adoptDatabase(
  { db, collections, isSharded }: Database,
  declarations: readonly Declaration[],
  tenant: Tenant,
  options: { readonly now: Date; readonly onProgress: (collection: string, changed: number) => void },
): Promise<number> {
  if (isSharded)
    throw new AdoptionRefused('A sharded database cannot be adopted: its shard keys would change');
  await begin(collections, tenant, options.now);
  let changed = 0;
  for (const declaration of declarations) {
    if ('because' in declaration.tenant) continue;
    if (declaration.tenant.isRebuilt === true) {
      await db.collection(declaration.name).deleteMany({});
      continue;
    }
    // Repeat, since a cursor may miss documents written while it is open.
    for (let found = await walk(declaration); found > 0; found = await walk(declaration)) changed += found;
  }
  await nameErasuresAgain();
  await notePublicationsAgain();
  await collections.feedEpochs.updateOne({ _id: 'feeds' }, { $inc: { epoch: 1 } });
  await schemaVersionRepository(collections).finishAdoption(tenant);
  return changed;

  async function walk(declaration: Declaration): Promise<number> {
    const { name: collection } = declaration;
    const documents = db.collection<Stored>(collection);
    const cursor = documents.find({}).batchSize(BATCH);
    let found = 0;
    try {
      while (await cursor.hasNext()) {
        const writes = cursor.readBufferedDocuments().flatMap((document) => {
          const adopted = adoptedBy(tenant, declaration, document);
          return isSame(document, adopted) ? [] : [replacing(document, adopted)];
        });
        // A document that gets a new id briefly exists twice, but is never missing.
        if (writes.length > 0) await documents.bulkWrite(writes.flat(), { ordered: true });
        found += writes.length;
        if (writes.length > 0) options.onProgress(collection, found);
      }
    } finally {
      await cursor.close();
    }
    return found;
  }

  /** Events identify an erasure by a hash of the member's id, while the member is still known. */
  async function nameErasuresAgain(): Promise<void> {
    const { erasures, hostEvents } = collections;
    for (const { _id, memberId = '' } of await erasures.find({ memberId: { $exists: true } }).toArray())
      await hostEvents.updateMany(
        { 'facts.erasureKey': erasureKeyOf(plainId(memberId)) },
        { $set: { 'facts.erasureKey': _id } },
      );
  }

  /** Publications are hashes of the actor's id: recreate them from the actions. */
  async function notePublicationsAgain(): Promise<void> {
    const { actions, publications } = collections;
    await publications.deleteMany({});
    const cursor = actions
      .find({ idempotencyKey: { $exists: true } })
      .project<Published>({ actorId: 1, idempotencyKey: 1 })
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
    throw new AdoptionRefused(`The database is being adopted into the tenant ${before.adopting}`);
  if (!(await schemaVersion.beginAdoption(tenant, latestVersion(MIGRATIONS))))
    throw new AdoptionRefused(
      'A migration is not finished: run a worker of this release until it is, then stop it',
    );
  const processes = processesRepository(collections);
  await processes.purge(now);
  const running = await processes.count(now);
  if (running === 0) return;
  if (before.adopting === null) await schemaVersion.leaveAdoption(tenant);
  throw new AdoptionRefused(
    `${String(running)} processes run on the database: stop them first; a process that died stops counting after 90 seconds`,
  );
}

/** The document with the tenant in every id. Free JSON contains ids in the application's form and stays. Idempotent. */
function adoptedBy(tenant: Tenant, { ids, tenant: of }: Declaration, document: Stored): Stored {
  if ('because' in of) return document;
  const mapped = { ...mapIds(document, ids, inTenant(tenant)), ...(of.by === 'tenant' ? { tenant } : {}) };
  return (of.adopt?.(mapped, tenant) ?? mapped) as Stored;
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
