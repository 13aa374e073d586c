import type { IndexDefinition } from './index-definition.ts';

/** A rule of MongoDB for sharded collections, and where it says so. */
export interface ShardRule {
  readonly says: string;
  readonly source: string;
}

const MANUAL = 'https://www.mongodb.com/docs/manual';

export const SHARD_RULES = {
  uniqueIndex: {
    says: 'A collection with a unique index other than that of _id can only be sharded where the shard key is a prefix of that index.',
    source: `${MANUAL}/core/sharding-shard-key/#unique-indexes`,
  },
  supportingIndex: {
    says: 'A collection that is not empty needs an index that begins with the shard key, and is neither partial, sparse nor multikey.',
    source: `${MANUAL}/core/sharding-shard-key/#shard-key-indexes`,
  },
  hashedUnique: {
    says: 'A hashed index cannot be unique, so no unique index but that of _id may be there beside a hashed shard key.',
    source: `${MANUAL}/core/indexes/index-types/index-hashed/#limitations`,
  },
  oneDocument: {
    says: 'Before version 7.1, updateOne, deleteOne and findAndModify need the shard key, or for the former two _id, in their filter.',
    source: `${MANUAL}/reference/method/db.collection.updateOne/#sharded-collections`,
  },
  upsert: {
    says: 'An upsert needs the whole shard key in its filter.',
    source: `${MANUAL}/reference/method/db.collection.updateOne/#sharded-collections`,
  },
} as const satisfies Readonly<Record<string, ShardRule>>;

export interface ShardRefusal {
  readonly rule: keyof typeof SHARD_RULES;
  /** The index it is about; null: there is none. */
  readonly index: string | null;
}

type Key = Readonly<Record<string, 1 | 'hashed'>>;

/** Why `sh.shardCollection` would refuse a collection with these indexes and this key; empty: it would not. */
export function shardRefusals(
  indexes: readonly Pick<IndexDefinition, 'name' | 'key' | 'unique' | 'sparse' | 'partialFilterExpression'>[],
  key: Key,
): ShardRefusal[] {
  const isHashed = Object.values(key).includes('hashed');
  const refusals: ShardRefusal[] = indexes
    .filter(
      ({ unique, key: fields }) => unique === true && (isHashed || !beginsWith(Object.entries(fields), key)),
    )
    .map(({ name }) => ({ rule: isHashed ? 'hashedUnique' : 'uniqueIndex', index: name }));
  const isSupported =
    beginsWith([['_id', 1]], key) ||
    indexes.some(
      ({ key: fields, sparse, partialFilterExpression }) =>
        sparse !== true && partialFilterExpression === undefined && beginsWith(Object.entries(fields), key),
    );
  if (!isSupported) refusals.push({ rule: 'supportingIndex', index: null });
  return refusals;
}

function beginsWith(fields: readonly (readonly [string, unknown])[], key: Key): boolean {
  return Object.entries(key).every(([name, order], place) => {
    const [field, direction] = fields[place] ?? [];
    return field === name && direction === order;
  });
}
