import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { Tenant } from '../../domain/stored-id.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { type Declared, NAMES_NOBODY, NOT_OF_ACTIONS } from '../../storage/documents/declaration.ts';
import type { ErasedTenantDocument } from '../../storage/documents/installation-documents.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly erasedTenants: ReturnType<typeof erasedTenantsRepository>;
  }
}

export const ERASED_TENANTS: Declared<'erasedTenants'> = {
  name: 'erasedTenants',
  holds: 'that a tenant was erased',
  ids: {},
  indexes: [],
  shard: { because: 'one document per erased tenant' },
  erase: NAMES_NOBODY,
  export: NAMES_NOBODY,
  action: NOT_OF_ACTIONS,
};

/** One-way, as for erased members: tells whether a given tenant was erased, but not which ones were. */
function keyOf(tenant: Tenant): string {
  return createHash('sha256').update(`erased tenant\0${tenant}`).digest('hex');
}

/** When tenants were last erased, for files written before. Unique key: `_id`. */
export function erasedTenantsRepository(collection: Collection<ErasedTenantDocument>) {
  return {
    async note(tenant: Tenant, erasedAt: Date): Promise<void> {
      await retryOnDuplicateKey(() =>
        collection.updateOne({ _id: keyOf(tenant) }, { $max: { erasedAt } }, { upsert: true }),
      );
    },

    /** The tenants among these that have been erased since a time. */
    async erasedSince(tenants: readonly Tenant[], since: Date): Promise<ReadonlySet<Tenant>> {
      if (tenants.length === 0) return new Set();
      const byKey = new Map(tenants.map((tenant) => [keyOf(tenant), tenant]));
      const documents = await collection
        .find({ _id: { $in: [...byKey.keys()] }, erasedAt: { $gte: since } })
        .toArray();
      return new Set(documents.flatMap(({ _id }) => byKey.get(_id) ?? []));
    },
  };
}
