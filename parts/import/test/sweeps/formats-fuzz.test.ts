import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { fc } from '../../../../test/support/fast-check.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { IS_DEEP } from '../../../../test/support/seed.ts';
import { anyText, spoilt, type Json } from '../../../../test/support/spoilt.ts';
import { Acting } from '../../../../src/core/stored-input.ts';
import { FORMATS, Mapping } from '../../src/formats/mapping.ts';
import { readRecord, type RecordKind } from '../../src/records.ts';
import { servicesTarget } from '../../src/target.ts';

// Exports of other products with some of them exchanged: each line is recorded or has a reason, and none ends the import.

const NUM_RUNS = IS_DEEP ? 5_000 : 40;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(() => app[Symbol.asyncDispose]());

const KINDS = Object.entries(FORMATS).flatMap(([format, of]) =>
  (Object.keys(of) as RecordKind[]).map((kind) => ({ format, kind })),
);

async function linesOf(format: string, kind: RecordKind): Promise<Json[]> {
  const path = fileURLToPath(new URL(`../fixtures/${format}-${kind}.ndjson`, import.meta.url));
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Json);
}

test.each(KINDS)(
  '$kind of $format',
  async ({ format, kind }) => {
    const never = () => Promise.resolve(0);
    const { writers } = servicesTarget(app.core, new Acting(null), { openFanOuts: never, workers: never });
    const lines = fc.array(
      fc.oneof(
        {
          weight: 8,
          arbitrary: fc
            .constantFrom(...(await linesOf(format, kind)))
            .chain(spoilt)
            .map((line) => JSON.stringify(line)),
        },
        anyText,
      ),
      { minLength: 1, maxLength: 4 },
    );
    let written = 0;
    await fc.assert(
      fc.asyncProperty(lines, async (texts) => {
        const mapping = new Mapping(format);
        const records = texts.flatMap((text, n) => {
          const read = readRecord(kind, mapping.line(kind, { number: n + 1, text, fault: null }));
          if (read.fault === null) return [read.record];
          expect(read.fault).not.toBe('');
          return [];
        });
        const { faults } = records.length === 0 ? { faults: [] } : await writers[kind](records as never[]);
        for (const { index, message } of faults)
          expect([index < records.length, message === '']).toEqual([true, false]);
        written += records.length - faults.length;
        expect([...mapping.report()].filter((line) => line === '')).toEqual([]);
      }),
      { numRuns: NUM_RUNS, endOnFailure: true },
    );
    // Were all refused, nothing behind the first check would have been tried.
    expect(written).toBeGreaterThan(0);
  },
  PATIENCE_MS * (IS_DEEP ? 60 : 2),
);
