import type { Db } from 'mongodb';
import type { Index, Sharded } from '../documents/declaration.ts';
import { shardRefusals, supports, type ShardRefusal } from './shard-rules.ts';

export interface PlannedShard extends Sharded {
  readonly collection: string;
}

export interface ShardState {
  /** Current shard key; `null`: not sharded. */
  readonly key: Readonly<Record<string, unknown>> | null;
  /** Existing indexes that conflict with the planned key. */
  readonly refusals: readonly ShardRefusal[];
  /** An index starts with the planned key. */
  readonly isSupported: boolean;
}

interface ShardedCollection {
  readonly _id: string;
  readonly key: Readonly<Record<string, unknown>>;
  /** Registered with the cluster, but not sharded. */
  readonly unsplittable?: boolean;
}

/** For a database behind mongos. */
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

    /** Shards a collection, empty or not. Creates an index that starts with the key if there is none. */
    async shard({ collection, key }: PlannedShard, { isSupported }: ShardState): Promise<void> {
      if (!isSupported) await db.collection(collection).createIndexes([{ key, name: SHARD_INDEX }]);
      await db.client.db('admin').command({ shardCollection: namespaceOf(collection), key });
    },
  };
}

/** Name of an index that exists only for the shard key. */
export const SHARD_INDEX = 'shard';

type StoredIndex = Pick<Index, 'name' | 'key' | 'unique' | 'sparse' | 'partialFilterExpression'>;

async function indexesOf(db: Db, collection: string): Promise<StoredIndex[]> {
  const [found] = await db.listCollections({ name: collection }, { nameOnly: true }).toArray();
  if (found === undefined) return [];
  const indexes = await db.collection(collection).indexes();
  return indexes.map((stored) => ({ ...stored, name: stored.name ?? '' }));
}
