import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allIndexes, COLLECTIONS } from '../../../../src/app/collections.ts';
import { SHARD_RULES, shardRefusals, supports } from '../../src/rules.ts';
import type { ShardKey } from '../../../../src/storage/documents/declaration.ts';
import { SCATTERED, type Reason } from '../../../../test/support/scattered.ts';
import { shardingTables } from '../../../../schema/sharding-tables.ts';
import { reachByKey } from '../../../../test/support/sharding.ts';

const indexesOf = (name: string) => allIndexes().filter(({ collection }) => collection === name);

const SHARDED = COLLECTIONS.flatMap(({ name: collection, shard }) =>
  'key' in shard ? [{ collection, ...shard }] : [],
);

it('declares each collection once', () => {
  const names = COLLECTIONS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

it('no index prevents sharding a collection by its key', () => {
  const refused = SHARDED.flatMap(({ collection, key }) =>
    shardRefusals(indexesOf(collection), key).map(
      ({ rule, index }) => `${collection}: ${rule} ${String(index)}`,
    ),
  );
  expect(refused).toEqual([]);
});

it('every shard key except the hashed one has an index that begins with it', () => {
  const without = SHARDED.filter(({ collection, key }) => !supports(indexesOf(collection), key));
  expect(without.map(({ collection }) => collection)).toEqual(['actions']);
});

it("follows MongoDB's rules for unique and supporting indexes", () => {
  const index = (key: Record<string, 1 | 'hashed'>, more: object = {}) => ({ name: 'one', key, ...more });
  const unique = { unique: true };
  expect(shardRefusals([index({ a: 1, b: 1 }, unique)], { a: 1 })).toEqual([]);
  expect(shardRefusals([index({ b: 1, a: 1 }, unique)], { a: 1 })).toEqual([
    { rule: 'uniqueIndex', index: 'one' },
  ]);
  expect(shardRefusals([index({ a: 1 }, unique)], { a: 1, b: 1 })).toEqual([
    { rule: 'uniqueIndex', index: 'one' },
  ]);
  expect(shardRefusals([index({ a: 1 }, unique)], { _id: 'hashed' })).toEqual([
    { rule: 'hashedUnique', index: 'one' },
  ]);
  expect(shardRefusals([index({ _id: 1 }, unique)], { a: 1 })).toEqual([]);
  expect(supports([index({ a: 1, b: 1 })], { a: 1 })).toBe(true);
  expect(supports([index({ b: 1, a: 1 })], { a: 1 })).toBe(false);
  for (const more of [{ sparse: true }, { partialFilterExpression: { a: { $exists: true } } }])
    expect(supports([index({ a: 1 }, more)], { a: 1 })).toBe(false);
  expect(supports([], { _id: 1 })).toBe(true);
  expect(supports([], { _id: 'hashed' })).toBe(false);
  expect(supports([index({ _id: 'hashed' })], { _id: 'hashed' })).toBe(true);
});

const BY_READER: ShardKey = { userId: 1 };
const BY_PAIR: ShardKey = { a: 1, b: 1 };
const BY_PART: ShardKey = { '_id.userId': 1 };
const one = (q: object, more: object = {}) => ({
  name: 'update',
  command: { updates: [{ q, u: { $set: { x: 1 } }, ...more }] },
});

it.each<[string, object & { name: string; command: object }, ShardKey, string]>([
  ['find by the key', { name: 'find', command: { filter: { userId: 'a' } } }, BY_READER, 'targeted'],
  [
    'find by several keys',
    { name: 'find', command: { filter: { userId: { $in: ['a'] } } } },
    BY_READER,
    'targeted',
  ],
  ['find by what the key begins with', { name: 'find', command: { filter: { a: 1 } } }, BY_PAIR, 'targeted'],
  ['find by what it ends with', { name: 'find', command: { filter: { b: 1 } } }, BY_PAIR, 'scattered'],
  [
    'find by a range',
    { name: 'find', command: { filter: { userId: { $gt: 'a' } } } },
    BY_READER,
    'scattered',
  ],
  [
    'find by the whole id',
    { name: 'find', command: { filter: { _id: { userId: 'a' } } } },
    BY_PART,
    'targeted',
  ],
  [
    'find by several whole ids',
    { name: 'find', command: { filter: { _id: { $in: [{ userId: 'a' }] } } } },
    BY_PART,
    'scattered',
  ],
  ['updateOne by the key', one({ userId: 'a' }), BY_READER, 'targeted'],
  ['updateOne by the id', one({ _id: 1 }), BY_READER, 'scattered'],
  ['updateOne by some ids', one({ _id: { $in: [1] } }), BY_READER, 'oneDocument'],
  ['updateOne by a part of the key', one({ a: 1 }), BY_PAIR, 'oneDocument'],
  ['updateMany by anything', one({ x: 1 }, { multi: true }), BY_READER, 'scattered'],
  ['upsert by the key', one({ userId: 'a', x: 1 }, { upsert: true }), BY_READER, 'targeted'],
  ['upsert by the id', one({ _id: 1 }, { upsert: true }), BY_READER, 'upsert'],
  ['upsert by the whole id', one({ _id: { userId: 'a' } }, { upsert: true }), BY_PART, 'targeted'],
  ['update of the key', one({ userId: 'a' }, { u: { $set: { userId: 'b' } } }), BY_READER, 'keyValue'],
  [
    'deleteOne by anything',
    { name: 'delete', command: { deletes: [{ q: { x: 1 }, limit: 1 }] } },
    BY_READER,
    'oneDocument',
  ],
  [
    'deleteMany by anything',
    { name: 'delete', command: { deletes: [{ q: { x: 1 }, limit: 0 }] } },
    BY_READER,
    'scattered',
  ],
  [
    'findOneAndUpdate by the id',
    { name: 'findAndModify', command: { query: { _id: 1 }, update: {} } },
    BY_READER,
    'findAndModify',
  ],
  [
    'findOneAndUpdate by the key',
    { name: 'findAndModify', command: { query: { userId: 'a' }, update: {} } },
    BY_READER,
    'targeted',
  ],
  [
    'a look into a sharded collection',
    {
      name: 'aggregate',
      command: { pipeline: [{ $match: { userId: 'a' } }, { $lookup: { from: 'actions' } }] },
    },
    BY_READER,
    'scattered',
  ],
])('%s', (_what, command, key, expected) => {
  const reach = reachByKey({ collection: 'any', ...command }, key);
  expect(reach.kind === 'forbidden' ? reach.rule : reach.kind).toBe(expected);
});

it('every rule names its source', () => {
  for (const { source } of Object.values(SHARD_RULES))
    expect(source).toMatch(/^https:\/\/www\.mongodb\.com\/docs\//);
});

const ROOT = new URL('../../../../', import.meta.url);
/** Of the core by their paths below `src/`, and of its parts by those of the repository. */
const SOURCES = [
  { folder: 'src/', prefix: '' },
  ...readdirSync(new URL('parts/', ROOT)).map((name) => {
    const folder = `parts/${name}/src/`;
    return { folder, prefix: folder };
  }),
].flatMap(({ folder, prefix }) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({
      ...{ path: `${prefix}${path}`, text: readFileSync(new URL(`${folder}${path}`, ROOT), 'utf8') },
    })),
);

it('every reason to query all shards names a sharded collection and existing sources', () => {
  const sharded = SHARDED.map(({ collection }) => collection);
  expect(Object.keys(SCATTERED).filter((collection) => !sharded.includes(collection))).toEqual([]);
  const sources = SOURCES.map(({ path }) => path);
  const from = Object.values(SCATTERED).flatMap(({ reads, writes }) =>
    [...reads, ...writes].flatMap((reason) => {
      expect(reason.by ?? reason.from).toBeDefined();
      return reason.from ?? [];
    }),
  );
  expect(from.filter((path) => !sources.some((source) => source.startsWith(path)))).toEqual([]);
});

it('every field in such a reason occurs in its sources', () => {
  const stores = /^(?:storage|feed|descriptors|parts\/(?:feed-models|archive))\/|\/store(?:\/|\.ts$)/;
  const texts = SOURCES.filter(({ path }) => stores.test(path));
  const isNamed = (field: string, { from = '' }: Reason): boolean =>
    texts.some(
      ({ path, text }) =>
        [from].flat().some((one) => path.startsWith(one)) &&
        new RegExp(`(?<![\\w.$])${field.replaceAll(/[$.]/g, '\\$&')}(?!\\w)`).test(text),
    );
  const unnamed = Object.entries(SCATTERED).flatMap(([collection, { reads, writes }]) =>
    [...reads, ...writes].flatMap((reason) =>
      (reason.by ?? [])
        // Which fields of a descriptor hold members is said where it is declared.
        .filter((field) => !isNamed(field.replace(/^descriptor\./, ''), reason))
        .map((field) => `${collection}: ${field}`),
    ),
  );
  expect(unnamed).toEqual([]);
});

it('docs/sharding.md has every key, reason and rule', () => {
  const text = readFileSync(new URL('../../../../docs/sharding.md', import.meta.url), 'utf8')
    .replaceAll(/ +/gu, ' ')
    .replaceAll(/(?<=\| )-+(?= \|)/gu, '---');
  for (const table of shardingTables()) expect(text).toContain(`${table.join('\n')}\n`);
  for (const { says, source } of Object.values(SHARD_RULES))
    expect(text).toContain(`| ${says} | <${source}> |`);
});
