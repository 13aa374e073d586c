import { expect, it } from 'vitest';
import { allIndexes } from '../../../src/app/indexes.ts';
import { SHARD_PLANS } from '../../../src/storage/shard-keys.ts';
import { SHARD_RULES, shardRefusals } from '../../../src/storage/shard-rules.ts';

it('every collection with an index has a shard key, or a reason for having none', () => {
  const planned = SHARD_PLANS.map(({ collection }) => collection);
  expect(new Set(planned).size).toBe(planned.length);
  expect(planned).toEqual(
    expect.arrayContaining([...new Set(allIndexes().map(({ collection }) => collection))]),
  );
});

it('says of each collection whether MongoDB would shard it with the indexes there are', () => {
  const refused = SHARD_PLANS.flatMap(({ collection, key }) => {
    if (key === null) return [];
    const indexes = allIndexes().filter((index) => index.collection === collection);
    return shardRefusals(indexes, key).map(({ rule, index }) =>
      `${collection}: ${rule} ${index ?? ''}`.trim(),
    );
  });
  // What has to change before these can be sharded: the key of items, and one unique index each of the others.
  expect(refused).toEqual([
    'actions: hashedUnique idempotency',
    'actions: supportingIndex',
    'newsfeedItems: uniqueIndex delivery',
    'feedSlots: uniqueIndex delivery',
    'follows: uniqueIndex followers',
  ]);
});

it('holds the rules of MongoDB for unique and supporting indexes', () => {
  const index = (key: Record<string, 1>, more: object = {}) => ({ name: 'one', key, ...more });
  expect(shardRefusals([index({ a: 1, b: 1 }, { unique: true })], { a: 1 })).toEqual([]);
  expect(shardRefusals([index({ b: 1, a: 1 }, { unique: true })], { a: 1 })).toEqual([
    { rule: 'uniqueIndex', index: 'one' },
    { rule: 'supportingIndex', index: null },
  ]);
  for (const more of [{ sparse: true }, { partialFilterExpression: { a: { $exists: true } } }])
    expect(shardRefusals([index({ a: 1 }, more)], { a: 1 })).toEqual([
      { rule: 'supportingIndex', index: null },
    ]);
  expect(shardRefusals([], { _id: 1 })).toEqual([]);
  for (const { source } of Object.values(SHARD_RULES))
    expect(source).toMatch(/^https:\/\/www\.mongodb\.com\/docs\//);
});
