import type { Db } from 'mongodb';
import type { Index, Sharded, ShardKey } from '../../../src/storage/documents/declaration.ts';

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

    /** Chunks do not move while a write of many documents runs. Rejects below MongoDB 8.0, or without the right to set it. */
    async pauseMigrations(): Promise<void> {
      await db.client.db('admin').command({ setClusterParameter: PAUSES_MIGRATIONS });
    },
  };
}

/** Otherwise such a write misses or repeats documents that move meanwhile, and nobody learns of it. */
export const PAUSES_MIGRATIONS = { pauseMigrationsDuringMultiUpdates: { enabled: true } } as const;

/** Name of an index that exists only for the shard key. */
export const SHARD_INDEX = 'shard';

type StoredIndex = Pick<Index, 'name' | 'key' | 'unique' | 'sparse' | 'partialFilterExpression'>;

async function indexesOf(db: Db, collection: string): Promise<StoredIndex[]> {
  const [found] = await db.listCollections({ name: collection }, { nameOnly: true }).toArray();
  if (found === undefined) return [];
  const indexes = await db.collection(collection).indexes();
  return indexes.map((stored) => ({ ...stored, name: stored.name ?? '' }));
}

/** A rule of MongoDB for sharded collections, with its source. */
export interface ShardRule {
  readonly says: string;
  readonly source: string;
}

const MANUAL = 'https://www.mongodb.com/docs/manual';
/** Of the oldest supported version: later ones allow more, but then query every shard. */
const REQUIREMENTS = 'https://www.mongodb.com/docs/v6.0/core/sharded-cluster-requirements/';

export const SHARD_RULES = {
  uniqueIndex: {
    says: 'Only three indexes can be unique: one on the shard key, one that has the shard key as a prefix, and the one on _id.',
    source: `${MANUAL}/core/sharding-shard-key-indexes/#unique-indexes`,
  },
  hashedUnique: {
    says: 'A hashed index cannot be unique, so with a hashed shard key only the index on _id can be unique.',
    source: `${MANUAL}/tutorial/enforce-uniqueness-on-shard-key-values/`,
  },
  supportingIndex: {
    says: 'A non-empty collection needs an index that starts with the shard key and is not partial, sparse or multikey.',
    source: `${MANUAL}/core/sharding-shard-key-indexes/`,
  },
  oneDocument: {
    says: 'updateOne, replaceOne and deleteOne need the shard key or _id in their filter.',
    source: `${REQUIREMENTS}#single-document-modification-operations-in-sharded-collections`,
  },
  findAndModify: {
    says: 'findOneAndUpdate needs the value of the shard key in its filter.',
    source: `${REQUIREMENTS}#single-document-modification-operations-in-sharded-collections`,
  },
  upsert: {
    says: 'An upsert needs the value of the whole shard key in its filter.',
    source: `${MANUAL}/reference/method/db.collection.updateOne/#sharded-collections`,
  },
  keyValue: {
    says: 'The shard key of a document can only be changed in a transaction or as a separate retryable write; _id never changes.',
    source: `${MANUAL}/core/sharding-change-shard-key-value/`,
  },
  lookup: {
    says: '$lookup reads sharded collections from version 5.1 on.',
    source: `${MANUAL}/reference/operator/aggregation/lookup/`,
  },
} as const satisfies Readonly<Record<string, ShardRule>>;

export type ShardRuleName = keyof typeof SHARD_RULES;

export interface ShardRefusal {
  readonly rule: ShardRuleName;
  /** The index concerned; `null`: none. */
  readonly index: string | null;
}

type AnyIndex = Pick<Index, 'name' | 'unique' | 'sparse' | 'partialFilterExpression'> & {
  readonly key: Index['key'];
};

/** Reasons why MongoDB would refuse to shard a collection with these indexes by this key; empty: it would accept. */
export function shardRefusals(indexes: readonly AnyIndex[], key: ShardKey): ShardRefusal[] {
  return indexes
    .filter(({ unique, key: fields }) => unique === true && !isOfId(fields))
    .filter(({ key: fields }) => isHashed(key) || !beginsWith(fields, key))
    .map(({ name }) => ({ rule: isHashed(key) ? 'hashedUnique' : 'uniqueIndex', index: name }));
}

/** Whether a non-empty collection could be sharded, which requires an index that starts with the key. */
export function supports(indexes: readonly AnyIndex[], key: ShardKey): boolean {
  return (
    beginsWith({ _id: 1 }, key) ||
    indexes.some(
      ({ key: fields, sparse, partialFilterExpression }) =>
        sparse !== true && partialFilterExpression === undefined && beginsWith(fields, key),
    )
  );
}

function isHashed(key: ShardKey): boolean {
  return Object.values(key).includes('hashed');
}

function isOfId(fields: AnyIndex['key']): boolean {
  return Object.keys(fields).join() === '_id';
}

function beginsWith(fields: AnyIndex['key'], key: ShardKey): boolean {
  const all = Object.entries(fields);
  return Object.entries(key).every(([name, order], place) => {
    const [field, direction] = all[place] ?? [];
    return field === name && direction === order;
  });
}
