import type { Db } from 'mongodb';
import type { IndexDefinition } from './index-definition.ts';
import type { ShardPlan } from './shard-keys.ts';
import { shardRefusals, supports, type ShardKey, type ShardRefusal } from './shard-rules.ts';

export type PlannedShard = Extract<ShardPlan, { readonly key: ShardKey }>;

export interface ShardState {
  /** By what it is sharded; null: it is not. */
  readonly key: Readonly<Record<string, unknown>> | null;
  /** What of the indexes that are there stands against the planned key. */
  readonly refusals: readonly ShardRefusal[];
  /** An index begins with the planned key. */
  readonly isSupported: boolean;
}

interface ShardedCollection {
  readonly _id: string;
  readonly key: Readonly<Record<string, unknown>>;
  /** It is in the list, and whole all the same. */
  readonly unsplittable?: boolean;
}

/** Of a database that the router of a sharded one answers for. */
export function sharding(db: Db) {
  const namespaceOf = (collection: string): string => `${db.databaseName}.${collection}`;

  return {
    async stateOf({ collection, key }: PlannedShard): Promise<ShardState> {
      const [listed, indexes] = await Promise.all([
        db.client
          .db('config')
          .collection<ShardedCollection>('collections')
          .findOne({ _id: namespaceOf(collection) }),
        indexesOf(db, collection),
      ]);
      return {
        key: listed === null || listed.unsplittable === true ? null : listed.key,
        refusals: shardRefusals(indexes, key),
        isSupported: supports(indexes, key),
      };
    },

    /** Shards a collection, empty or not. Makes the index that has to begin with the key where there is none. */
    async shard({ collection, key }: PlannedShard, { isSupported }: ShardState): Promise<void> {
      if (!isSupported) await db.collection(collection).createIndexes([{ key, name: SHARD_INDEX }]);
      await db.client.db('admin').command({ shardCollection: namespaceOf(collection), key });
    },
  };
}

/** The index that nothing but the shard key needs. */
export const SHARD_INDEX = 'shard';

type StoredIndex = Pick<IndexDefinition, 'name' | 'key' | 'unique' | 'sparse' | 'partialFilterExpression'>;

async function indexesOf(db: Db, collection: string): Promise<StoredIndex[]> {
  const [found] = await db.listCollections({ name: collection }, { nameOnly: true }).toArray();
  if (found === undefined) return [];
  const indexes = await db.collection(collection).indexes();
  return indexes.map((stored) => ({ ...stored, name: stored.name ?? '' }));
}
