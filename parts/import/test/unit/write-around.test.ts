import { describe, expect, it } from 'vitest';
import { BatchRefused, writeAround } from '../../src/target.ts';
import { fc } from '../../../../test/support/fast-check.ts';

/** Refuses batches with a bad record (negative), as a server does; `named`: says which. */
function server(named: boolean) {
  const written: number[] = [];
  let calls = 0;
  return {
    written,
    calls: () => calls,
    write(batch: readonly number[]): Promise<void> {
      calls += 1;
      const issues = batch.flatMap((value, index) =>
        value < 0 ? [{ path: named ? ['records', index, 'name'] : ['records'], message: `Is ${value}` }] : [],
      );
      if (issues.length > 0) return Promise.reject(new BatchRefused('Bad batch', issues));
      written.push(...batch);
      return Promise.resolve();
    },
  };
}

describe('writeAround', () => {
  it.each([true, false])(
    'writes all valid records and finds all invalid ones (server names them: %s)',
    async (named) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: -3, max: 9 })), async (records) => {
          const target = server(named);
          const faults = await writeAround(records, (batch) => target.write(batch));
          expect(target.written).toEqual(records.filter((value) => value >= 0));
          expect(faults.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
            [...records.keys()].filter((index) => (records[index] ?? 0) < 0),
          );
        }),
      );
    },
  );

  it('reports what is wrong with a record, and at which path', async () => {
    const target = server(true);
    expect(await writeAround([1, -5, 2], (batch) => target.write(batch))).toEqual([
      { index: 1, message: 'name: Is -5' },
    ]);
    expect(target.calls()).toBe(2);
  });

  it('rethrows errors that are not caused by the records', async () => {
    await expect(writeAround([1], () => Promise.reject(new Error('down')))).rejects.toThrow('down');
  });
});
