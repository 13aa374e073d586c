import { describe, expect, test } from 'vitest';
import { MEASURED_COSTS } from '../../src/measured-costs.ts';
import { planOf } from '../../src/plan.ts';
import { planLines } from '../../src/print.ts';
import { workloadOf, type GivenWorkload } from '../../src/workload.ts';
import { fc } from '../../../../test/support/fast-check.ts';
import { repeats } from '../../../../test/support/seed.ts';

/** Between two bounds, as likely among small numbers as among large ones. */
const upTo = (most: number, least = 1): fc.Arbitrary<number> =>
  fc.double({ min: Math.log10(least), max: Math.log10(most), noNaN: true }).map((power) => 10 ** power);

/** Every number in it, with where it is. */
function* numbersIn(value: unknown, path = 'plan'): Generator<[path: string, value: number]> {
  if (typeof value === 'number') yield [path, value];
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) yield* numbersIn(inner, `${path}.${name}`);
}

function expectFigures(given: GivenWorkload): void {
  const found = planOf(workloadOf(given), MEASURED_COSTS);
  for (const [path, value] of numbersIn(found)) {
    // Without a threshold, everything is pushed.
    if (!path.endsWith('.threshold')) expect(value, path).toBeLessThan(Infinity);
    expect(value, path).toBeGreaterThanOrEqual(0);
  }
  expect(planLines(found).join('\n')).not.toMatch(/NaN|Infinity|undefined|null/);
}

describe('has finite figures for any input', () => {
  test('at the largest and smallest values', () => {
    const most = { members: 1e9, readers: 1e9, refs: 1e9, follows: 1e5, actions: 1e12, reads: 1e12 };
    expectFigures({ ...most, notifications: 1e12, marking: 1, peak: 1_000, watching: 1, threshold: 1e12 });
    const least = { members: 1, refs: 1, follows: 0.01, actions: 1, reads: 1, notifications: 0 };
    expectFigures({ ...least, watching: 0, threshold: 0 });
    // A million workers, for one reader.
    expectFigures({ members: 1, refs: 1, actions: 1e12 });
  });

  test('for random values', () => {
    const given = fc.record({
      ...{ members: upTo(1e9).map(Math.round), refs: upTo(1e9).map(Math.round), follows: upTo(1e5, 0.01) },
      ...{ actions: upTo(1e12), reads: upTo(1e12), notifications: upTo(1e12) },
      zipf: fc.double({ min: 0, max: 3, noNaN: true }),
      ...{ peak: upTo(1_000), watching: fc.double({ min: 0, max: 1, noNaN: true }), threshold: upTo(1e12) },
      ...{ cap: upTo(1e6).map(Math.round), days: upTo(36_500), cores: upTo(1_024).map(Math.round) },
      ...{ model: fc.constantFrom(...Object.keys(MEASURED_COSTS.models)), burst: fc.nat(100) },
      workers: fc.option(upTo(1_000).map(Math.round)),
    });
    fc.assert(fc.property(given, expectFigures), { numRuns: repeats(2) });
  });
});
