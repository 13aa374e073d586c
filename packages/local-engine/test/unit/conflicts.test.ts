import { BSON, type Document } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { resumeConflicts } from '../../src/gateway/conflicts.ts';

const DUPLICATE = engineNumber('23505');
const DEADLOCK = engineNumber('40P01');

/** As the engine writes a SQLSTATE: five characters of six bits, the first one lowest. */
function engineNumber(state: string): number {
  return Array.from(state).reduce((sum, character, n) => sum + (character.charCodeAt(0) - 48) * 64 ** n, 0);
}

interface Engine {
  /** Codes that the operation with this key fails with, one at a time, before it succeeds. */
  readonly failures: Record<string, number[]>;
  /** The keys of each run. */
  readonly runs: string[][];
}

/** Runs operations as the engine does: one after the other, an ordered batch up to its first failure. */
function runOn({ failures, runs }: Engine, operations: readonly Buffer[], isOrdered: boolean): Document {
  const keys = operations.map((operation) => String((BSON.deserialize(operation)['q'] as Document)['k']));
  runs.push(keys);
  const writeErrors: Document[] = [];
  let n = 0;
  for (const [index, key] of keys.entries()) {
    const code = failures[key]?.shift();
    if (code === undefined) n += 1;
    else {
      writeErrors.push({ index, code, errmsg: key });
      if (isOrdered) break;
    }
  }
  return { n, nModified: n, ...(writeErrors.length === 0 ? {} : { writeErrors }) };
}

async function resumed(
  keys: readonly string[],
  isOrdered: boolean,
  failures: Record<string, number[]>,
  { upsert = true } = {},
): Promise<{ result: Document; runs: string[][] }> {
  const operations = keys.map((k) => Buffer.from(BSON.serialize({ q: { k }, u: {}, upsert })));
  const engine: Engine = { failures, runs: [] };
  const split = (sequence: Buffer): Buffer[] =>
    operations.filter((operation) => sequence.includes(operation));
  const result = await resumeConflicts(runOn(engine, operations, isOrdered), {
    operations: Buffer.concat(operations),
    isOrdered,
    run: (part) => Promise.resolve(runOn(engine, split(part), isOrdered)),
  });
  return { result, runs: engine.runs };
}

describe('a batch with conflicts', () => {
  test('continues with every upsert that lost its key, one after the other if it is ordered', async () => {
    const failures = { b: [DUPLICATE], c: [DUPLICATE], d: [DEADLOCK, DUPLICATE] };
    const { result, runs } = await resumed(['a', 'b', 'c', 'd', 'e'], true, failures);
    expect(result).toEqual({ n: 5, nModified: 5 });
    expect(runs.map((run) => run.join(''))).toEqual(['abcde', 'bcde', 'cde', 'de', 'de']);
  });

  test('runs only the affected operations again if it is unordered', async () => {
    const failures = { b: [DUPLICATE], d: [DEADLOCK, DUPLICATE] };
    const { result, runs } = await resumed(['a', 'b', 'c', 'd', 'e'], false, failures);
    expect(result).toEqual({ n: 5, nModified: 5 });
    expect(runs.map((run) => run.join(''))).toEqual(['abcde', 'bd', 'd']);
  });

  test.each([true, false])(
    'reports a duplicate that remains the second time, ordered: %s',
    async (isOrdered) => {
      const { result, runs } = await resumed(['a', 'b'], isOrdered, { b: [DUPLICATE, DUPLICATE] });
      expect(result).toEqual({
        n: 1,
        nModified: 1,
        writeErrors: [{ index: 1, code: DUPLICATE, errmsg: 'b' }],
      });
      expect(runs.length).toBe(2);
    },
  );

  test('does not retry operations other than upserts', async () => {
    const { result, runs } = await resumed(['a', 'b'], false, { b: [DUPLICATE] }, { upsert: false });
    expect(result['writeErrors']).toEqual([{ index: 1, code: DUPLICATE, errmsg: 'b' }]);
    expect(runs.length).toBe(1);
  });
});
