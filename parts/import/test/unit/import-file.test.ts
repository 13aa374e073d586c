import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFile } from '../../src/import-file.ts';
import type { BatchOutcome, ImportWriters } from '../../src/target.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-import-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Takes batches down and answers as told. */
function writersOf(answer: (batch: readonly object[]) => BatchOutcome) {
  const batches: (readonly object[])[] = [];
  const write = (batch: readonly object[]): Promise<BatchOutcome> => {
    batches.push(batch);
    return Promise.resolve(answer(batch));
  };
  const writers: ImportWriters = { members: write, refs: write, follows: write, actions: write };
  return { batches, writers };
}

async function run(
  kind: 'refs' | 'actions',
  lines: readonly string[],
  answer: (batch: readonly object[]) => BatchOutcome,
) {
  const path = join(folder, `${kind}.ndjson`);
  await writeFile(path, lines.join('\n'));
  const { batches, writers } = writersOf(answer);
  const faults: string[] = [];
  const fractions: number[] = [];
  const imported = await importFile(kind, path, {
    writers,
    inFlight: 2,
    onProgress: (fraction) => fractions.push(fraction),
    onFault: (place, message) => faults.push(`${place}: ${message}`),
  });
  return { imported, batches, fractions, faults: faults.map((fault) => fault.replace(`${folder}/`, '')) };
}

const allGood = (): BatchOutcome => ({ replays: 0, faults: [] });
const ref = (n: number) => JSON.stringify({ id: `r${n}`, type: 'site', label: `Site ${n}` });

describe('importFile', () => {
  it('sends batches of the size that the API accepts, in the order of the file', async () => {
    const { imported, batches, fractions } = await run(
      'refs',
      Array.from({ length: 2_500 }, (_, n) => ref(n)),
      allGood,
    );
    expect(batches.map((batch) => batch.length)).toEqual([1_000, 1_000, 500]);
    expect(batches.flat().map((record) => (record as { id: string }).id)).toEqual(
      Array.from({ length: 2_500 }, (_, n) => `r${n}`),
    );
    expect(imported).toMatchObject({ lines: 2_500, written: 2_500, replays: 0, faults: 0 });
    expect(fractions.at(-1)).toBe(1);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  });

  it('reports written records as progress, not records read ahead', async () => {
    const { fractions } = await run(
      'refs',
      Array.from({ length: 4_000 }, (_, n) => ref(10_000 + n)),
      allGood,
    );
    expect(fractions.map((fraction) => fraction.toFixed(2))).toEqual([
      '0.25',
      '0.50',
      '0.75',
      '1.00',
      '1.00',
    ]);
  });

  it('keeps batches below 512 KiB', async () => {
    const action = JSON.stringify({
      descriptor: {
        custom: { verb: 'v', objectType: 'o', objectId: '1', data: { text: 'x'.repeat(16_000) } },
      },
    });
    const { batches } = await run(
      'actions',
      Array.from({ length: 70 }, () => action),
      allGood,
    );
    expect(batches.map((batch) => batch.length)).toEqual([32, 32, 6]);
  });

  it('reports invalid lines with file and line, whichever part finds them, and imports the rest', async () => {
    const { imported, faults, batches } = await run(
      'refs',
      [ref(1), 'nonsense', '', ref(4), '{}', ref(6)],
      () => ({
        replays: 1,
        faults: [{ index: 1, message: 'label: Must not be empty' }],
      }),
    );
    expect(batches).toHaveLength(1);
    expect(faults.sort()).toEqual([
      'refs.ndjson:2: The line is not JSON',
      'refs.ndjson:4: label: Must not be empty',
      expect.stringMatching(/^refs\.ndjson:5: id: /) as unknown,
    ]);
    expect(imported).toMatchObject({ lines: 5, written: 1, replays: 1, faults: 3 });
  });

  it('writes nothing for an empty file', async () => {
    const { imported, batches } = await run('refs', [], allGood);
    expect(batches).toEqual([]);
    expect(imported).toMatchObject({ lines: 0, written: 0 });
  });
});
