import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allIndexes, COLLECTIONS } from '../../../src/app/collections.ts';
import { faultsOf, parseShape, type Shape } from '../../support/mongodb-rules.ts';

const LOG = readFileSync(new URL('../../command-log.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

/** The parts of a line of the command log, by name. */
function partsOf(line: string): Record<string, Shape> {
  const parts: Record<string, Shape> = {};
  let [, rest = ''] = /^\w+ \S+ ?(.*)$/.exec(line) ?? [];
  while (rest !== '') {
    const [, name = '', of = ''] = /^(\w+) (.*)$/.exec(rest) ?? [];
    const read = parseShape(of);
    parts[name] = read.shape;
    rest = read.rest;
  }
  return parts;
}

describe('by the manual of MongoDB', () => {
  it('every command that is sent is one that version 6.0 knows', () => {
    const faults = LOG.flatMap((line) =>
      faultsOf(partsOf(line)).map((fault) => `${fault}: ${line.slice(0, 200)}`),
    );
    expect(faults).toEqual([]);
  });

  it.each([
    ['find a filter {a: {$near: [?]}}', '$near is no known predicate'],
    ['find a filter {$or: [{a: ?}, {$where: ?}]}', '$where is no known predicate'],
    ['aggregate a pipeline [{$match: {a: ?}}, {$fill: {b: ?}}]', '$fill is no known stage'],
    [
      'aggregate a pipeline [{$unionWith: {coll: ?, pipeline: [{$project: {a: {$median: $b}}}]}}]',
      '$median is no known expression',
    ],
    ['update a updates [{q: {_id: ?}, u: [{$match: {a: ?}}]}]', '$match is no known stage'],
    [
      'update a updates [{q: {_id: ?}, u: {$set: {a.b: ?}, $inc: {a: ?}}}]',
      'a and a.b are changed by one update',
    ],
    [
      'update a updates [{q: {_id: ?}, u: {$set: {a.$[one]: ?}}, upsert: ?}]',
      'an upsert has the positional a.$[one]',
    ],
    [
      'findAndModify a filter {_id: ?} update {$push: {a: {$each: [?], $last: ?}}}',
      '$last is no known modifier',
    ],
  ])('%s would be refused', (line, fault) => {
    expect(faultsOf(partsOf(line))).toEqual([fault]);
  });

  // https://www.mongodb.com/docs/manual/core/index-partial/ and https://www.mongodb.com/docs/manual/reference/limits/
  it('partial indexes have conditions that it allows, and no collection has more than 64 indexes', () => {
    const allowed = new Set(['$exists', '$gt', '$gte', '$lt', '$lte', '$eq', '$type', '$and', '$or', '$in']);
    const namesIn = (value: unknown): string[] =>
      typeof value !== 'object' || value === null || value instanceof Date
        ? []
        : Object.entries(value).flatMap(([name, inner]: [string, unknown]) => [
            ...(name === '$exists' && inner !== true
              ? ['$exists: false']
              : name.startsWith('$')
                ? [name]
                : []),
            ...namesIn(inner),
          ]);
    for (const hasTenants of [false, true]) {
      const all = allIndexes({ hasTenants });
      expect(
        all.filter(({ partialFilterExpression: of }) => namesIn(of).some((name) => !allowed.has(name))),
      ).toEqual([]);
      // A partial index is not sparse as well.
      expect(
        all.filter(({ sparse, partialFilterExpression: of }) => sparse === true && of !== undefined),
      ).toEqual([]);
      for (const { name } of COLLECTIONS)
        expect(all.filter(({ collection }) => collection === name).length).toBeLessThan(64);
    }
  });

  // https://www.mongodb.com/docs/manual/core/indexes/index-types/index-multikey/create-multikey-index-basic/#compound-multikey-indexes
  it('no index has two fields that are lists', () => {
    for (const { name, ids, indexes, indexesForTypes } of COLLECTIONS) {
      const lists = new Set(
        Object.values(ids).flatMap((paths) =>
          paths.flatMap((path) => (path.includes('[]') ? path.replace(/\[\].*/, '') : [])),
        ),
      );
      for (const { key } of [...indexes, ...(indexesForTypes?.() ?? [])]) {
        const roots = new Set(Object.keys(key as object).map((path) => path.split('.')[0] ?? ''));
        expect([name, [...roots].filter((root) => lists.has(root)).length < 2]).toEqual([name, true]);
      }
    }
  });
});
