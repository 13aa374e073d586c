import { BSON, type Document, type Filter, type ObjectId } from 'mongodb';
import type { UserId } from '../../../src/domain/action.ts';
import { idRangeOf, tenantOf, type Tenant, withoutTenantIn } from '../../../src/domain/stored-id.ts';
import type { ActionDocument } from '../../../src/storage/documents/documents.ts';
import type { Collections } from '../../../src/storage/database/mongo.ts';
import { type Declaration, tenantIn } from '../../../src/storage/documents/declaration.ts';
import { fieldOf } from '../../../src/storage/documents/ids.ts';

export interface TenantSummary {
  readonly tenant: Tenant;
  readonly members: number;
  /** Without deleted ones. */
  readonly actions: number;
}

const BATCH = 500;
/** Upper bound for all ids and fields of a tenant. */
const BEHIND = ' ';

/** Filter for the documents of a tenant. Uses an index, or the collection is small. */
function ofTenant(declaration: Declaration, tenant: Tenant): Filter<Document> {
  const { from, before } = idRangeOf(tenant);
  const ranges = tenantIn(declaration).map((path) =>
    path === 'tenant' ? { tenant } : { [fieldOf(path)]: { $gte: from, $lt: before } },
  );
  const [first, ...others] = ranges;
  return first === undefined || others.length > 0 ? { $or: ranges } : first;
}

/** All data of one tenant. For the command line: its reads take long. */
export function tenantDataRepository(collections: Collections, declarations: readonly Declaration[]) {
  const { actions, erasures, feeds, follows, hostEvents, members, refs } = collections;
  const { db } = members;

  /** Tenant of the next document after a position, by an index that starts with the field. */
  async function nextIn(
    collection: { find: Collections['members']['find'] },
    field: string,
    after: Tenant | null,
  ): Promise<Tenant | null> {
    const isId = field !== 'tenant';
    const behind = isId ? { $gte: `${after ?? ''}${BEHIND}` } : { $gt: after ?? '' };
    const [found] = await collection
      .find({ [field]: behind })
      .sort({ [field]: 1 })
      .project({ [field]: 1 })
      .limit(1)
      .toArray();
    const value: unknown = found?.[field];
    if (typeof value !== 'string') return null;
    return isId ? tenantOf(value) : value;
  }

  async function* batches<D extends Document>(
    part: { readonly collection: string; readonly filter: Document },
    projection: Document | null = null,
  ): AsyncGenerator<D[], void, undefined> {
    const cursor = db.collection(part.collection).find(part.filter).batchSize(BATCH);
    if (projection !== null) cursor.project(projection);
    try {
      while (await cursor.hasNext()) yield cursor.readBufferedDocuments() as unknown as D[];
    } finally {
      await cursor.close();
    }
  }

  return {
    /** All tenants with data, ordered by name. A few reads per tenant. */
    async *list(): AsyncGenerator<TenantSummary, void, undefined> {
      const sources = [
        [members, '_id'],
        [refs, '_id'],
        [feeds, '_id'],
        [follows, 'followerId'],
        [actions, 'tenant'],
        [hostEvents, 'tenant'],
        [erasures, 'tenant'],
      ] as unknown as readonly (readonly [{ find: Collections['members']['find'] }, string])[];
      let after: Tenant | null = null;
      for (;;) {
        const place: Tenant | null = after;
        const next = (
          await Promise.all(sources.map(([collection, field]) => nextIn(collection, field, place)))
        ).filter((name) => name !== null);
        const [tenant] = next.sort();
        if (tenant === undefined) return;
        const { from, before } = idRangeOf(tenant);
        const [people, deeds] = await Promise.all([
          members.countDocuments({ _id: { $gte: from, $lt: before } }),
          actions.countDocuments({ tenant, isDeleted: false }),
        ]);
        yield { tenant, members: people, actions: deeds };
        after = tenant;
      }
    },

    /** Everybody who may have a feed or watch one, in batches, possibly with duplicates. */
    async *readers(tenant: Tenant): AsyncGenerator<UserId[], void, undefined> {
      const { from, before } = idRangeOf(tenant);
      const range = { $gte: from, $lt: before };
      for (const collection of ['members', 'feeds'])
        for await (const found of batches<{ _id: UserId }>(
          { collection, filter: { _id: range } },
          { _id: 1 },
        ))
          yield found.map(({ _id }) => _id);
      for await (const found of batches<{ followerId: UserId }>(
        { collection: 'follows', filter: { followerId: range } },
        { followerId: 1 },
      ))
        yield [...new Set(found.map(({ followerId }) => followerId))];
      for await (const found of batches<Pick<ActionDocument, 'actorId' | 'mentions' | 'recipients'>>(
        { collection: 'actions', filter: { tenant } },
        { actorId: 1, mentions: 1, recipients: 1 },
      ))
        yield [
          ...new Set(
            found.flatMap(({ actorId, mentions, recipients }) => [actorId, ...mentions, ...recipients]),
          ),
        ];
    },

    /** A part's documents as stored, one line of JSON each, with ids in the application's form. */
    async *lines(part: Declaration, tenant: Tenant): AsyncGenerator<string[], void, undefined> {
      const { name: collection } = part;
      for await (const found of batches({ collection, filter: ofTenant(part, tenant) }))
        yield found.map((document) => {
          const plain = BSON.EJSON.serialize(document, { relaxed: true });
          return JSON.stringify({ in: collection, doc: withoutTenantIn<unknown>(tenant, plain) });
        });
    },

    /** Removes some documents of a part. @returns their number: 0 when there is none. */
    async remove(part: Declaration, tenant: Tenant): Promise<number> {
      const { name: collection, beforeRemoval } = part;
      const { reads, run } = beforeRemoval ?? { reads: ['_id'] };
      const found = await db
        .collection(collection)
        .find(ofTenant(part, tenant))
        .project(Object.fromEntries(reads.map((field) => [field, 1])))
        .limit(BATCH)
        .toArray();
      if (found.length === 0) return 0;
      await run?.(collections, found);
      const { deletedCount } = await db
        .collection(collection)
        .deleteMany({ _id: { $in: found.map(({ _id }) => _id as ObjectId) } });
      return deletedCount;
    },

    /** Collections with documents of tenants. */
    parts: (): readonly Declaration[] => declarations.filter((one) => tenantIn(one).length > 0),
  };
}
