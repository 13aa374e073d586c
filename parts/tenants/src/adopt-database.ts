import { isDeepStrictEqual } from 'node:util';
import type { AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { plainId, storedId, tenantOf, type Tenant } from '../../../src/domain/stored-id.ts';
import { groupKeyOf } from '../../../src/descriptors/group-key.ts';
import { descriptorOfType } from '../../../src/descriptors/registry.ts';
import { newRevision } from '../../../src/storage/stages/revision.ts';
import type { ActionDocument, InteractionDocument } from '../../../src/storage/documents/documents.ts';
import type { MuteDocument } from '../../../src/storage/documents/reader-documents.ts';
import { erasureKeyOf } from '../../../src/features/erasure/store/erasures.ts';
import { latestVersion, MIGRATIONS } from '../../../src/storage/migrations/migration.ts';
import type { Database } from '../../../src/storage/database/mongo.ts';
import { processesRepository } from '../../../src/storage/database/processes.ts';
import { isKeyed, notePublications, type Published } from '../../../src/features/publish/store/publishing.ts';
import { schemaVersionRepository } from '../../../src/storage/database/schema-version.ts';
import { type Declaration, type Documents, tenantIn } from '../../../src/storage/documents/declaration.ts';
import { type Change, mapIds } from '../../../src/storage/documents/ids.ts';

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
    if (tenantIn(declaration).length === 0) continue;
    if (declaration.isRebuilt === true) {
      await db.collection(declaration.name).deleteMany({});
      continue;
    }
    // Repeat, since a cursor may miss documents written while it is open.
    for (let found = await walk(declaration); found > 0; found = await walk(declaration)) changed += found;
  }
  await nameErasuresAgain();
  await notePublicationsAgain();
  await collections.feedEpochs.updateOne({ _id: 'feeds' }, { $inc: { epoch: 1 } });
  await collections.schema.updateOne(
    { _id: 'schema', adopting: tenant },
    { $set: { tenants: true }, $unset: { adopting: 1 } },
  );
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
        await notePublications(publications, cursor.readBufferedDocuments().filter(isKeyed), '$set');
    } finally {
      await cursor.close();
    }
  }
}

async function begin(collections: Database['collections'], tenant: Tenant, now: Date): Promise<void> {
  const { schema } = collections;
  const before = await schemaVersionRepository(collections).state();
  if (before === null) throw new AdoptionRefused('The database is empty: there is nothing to adopt');
  if (before.hasTenants) throw new AdoptionRefused('The database has tenants already');
  if (before.adopting !== null && before.adopting !== tenant)
    throw new AdoptionRefused(`The database is being adopted into the tenant ${before.adopting}`);
  // Also continues an interrupted attempt.
  const { matchedCount } = await schema.updateOne(
    {
      ...{ _id: 'schema', version: latestVersion(MIGRATIONS) },
      ...{ migration: { $exists: false }, tenants: { $exists: false } },
      $or: [{ adopting: { $exists: false } }, { adopting: tenant }],
    },
    { $set: { adopting: tenant } },
  );
  if (matchedCount === 0)
    throw new AdoptionRefused(
      'A migration is not finished: run a worker of this release until it is, then stop it',
    );
  const processes = processesRepository(collections);
  await processes.purge(now);
  const running = await processes.count(now);
  if (running === 0) return;
  if (before.adopting === null)
    await schema.updateOne({ _id: 'schema', adopting: tenant }, { $unset: { adopting: 1 } });
  throw new AdoptionRefused(
    `${String(running)} processes run on the database: stop them first; a process that died stops counting after 90 seconds`,
  );
}

/**
 * Values that contain an id, although they are not one at a declared place. The ids and the field `tenant` have been changed before.
 * Idempotent.
 */
const ADOPTED: {
  readonly [Name in keyof Documents]?: (document: Documents[Name], tenant: Tenant) => Documents[Name];
} = {
  actions: adoptedAction,
  interactions: adoptedInteraction,
  members: adoptedTerms,
  refs: adoptedTerms,
  feeds: ({ mutes, ...document }, tenant) => ({
    ...document,
    ...(mutes === undefined ? {} : { mutes: mutes.map((mute) => adoptedMute(mute, inTenant(tenant))) }),
  }),
  // The member of a finished erasure is unknown: it stays under the key of the id without a tenant.
  erasures: (document) =>
    document.memberId === undefined ? document : { ...document, _id: erasureKeyOf(document.memberId) },
};

/** Ids in undeclared types stay, since it is unknown which fields contain ids. */
function adoptedAction(document: ActionDocument, tenant: Tenant): ActionDocument {
  const { type, tags, ...values } = document.descriptor;
  const fields = descriptorOfType(type)?.fields ?? {};
  const inIt = inTenant(tenant);
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    fields[name]?.kind === 'id' && typeof value === 'string' ? inIt(value) : value,
  ]);
  const descriptor = { type, tags, ...(Object.fromEntries(entries) as object) };
  const { groupKey, unlogged } = document;
  const newGroup = groupKey === undefined ? null : groupKeyOf({ ...document, descriptor });
  return {
    ...document,
    rev: newRevision(),
    descriptor,
    ...(newGroup === null ? {} : { groupKey: newGroup }),
    ...(unlogged === undefined ? {} : { unlogged: unlogged.map((one) => ({ ...one, tenant })) }),
  };
}

/** A key starts with its actor, or is an id that names nobody. */
function adoptedInteraction(document: InteractionDocument, tenant: Tenant): InteractionDocument {
  const { actorId, key, unlogged } = document;
  const head = `[${JSON.stringify(plainId(actorId))},`;
  return {
    ...document,
    key: key.startsWith(head) ? `[${JSON.stringify(actorId)},${key.slice(head.length)}` : key,
    ...(unlogged === undefined ? {} : { unlogged: unlogged.map((one) => ({ ...one, tenant })) }),
  };
}

/** The search terms of a name begin like an id. */
function adoptedTerms<D extends object>(document: D, tenant: Tenant): D {
  return mapIds(document, { ref: ['search.terms[]'] }, inTenant(tenant));
}

/** Mutes of types and phrases name nobody. */
function adoptedMute(mute: MuteDocument, inIt: (id: string) => string): MuteDocument {
  return mute.kind === 'MEMBER' || mute.kind === 'REF' ? { ...mute, value: inIt(mute.value) } : mute;
}

/** The id with the tenant as its prefix, once. */
function inTenant(tenant: Tenant): Change {
  return (id) => (tenantOf(id) === null ? storedId(tenant, id) : id);
}

/** The document with the tenant in every id. Free JSON contains ids in the application's form and stays. Idempotent. */
function adoptedBy(tenant: Tenant, declaration: Declaration, document: Stored): Stored {
  const { name, ids } = declaration;
  const hasField = tenantIn(declaration).includes('tenant');
  const mapped = { ...mapIds(document, ids, inTenant(tenant)), ...(hasField ? { tenant } : {}) };
  const adopt = ADOPTED[name as keyof Documents] as
    | ((document: object, tenant: Tenant) => object)
    | undefined;
  return (adopt?.(mapped, tenant) ?? mapped) as Stored;
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
