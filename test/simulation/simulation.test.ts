import { beforeAll, describe, expect, test } from 'vitest';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { bundle, type Bundle } from './bundle.ts';
import { planOf } from './plan.ts';
import { simulate, type Outcome } from './simulate.ts';

/** A usual run has the same seeds each time, a deep one has new ones. */
const SEEDS = Array.from({ length: repeats(100) }, (_, n) => (IS_DEEP ? SEED * 100_000 : 0) + n + 1);
const AT_ONCE = 20;
/** Of so many seeds one is run once more. */
const REPEATED_ONE_IN = 4;

let sources: Bundle;
beforeAll(async () => {
  sources = await bundle();
});

/** What is broken, and how to see it. */
function wordsOf(seed: number, { problems }: Outcome): string[] {
  if (problems.length === 0) return [];
  return [
    `Seed ${String(seed)}: npm run -s simulate -- ${String(seed)}`,
    ...problems.map(({ promise, what }) => `${promise}: ${what}`),
  ];
}

const groups = Array.from({ length: Math.ceil(SEEDS.length / AT_ONCE) }, (_, n) =>
  SEEDS.slice(n * AT_ONCE, (n + 1) * AT_ONCE),
).map((seeds) => ({ seeds, first: seeds[0] ?? 0, last: seeds.at(-1) ?? 0 }));

describe('processes, clients and hosts under one seed', () => {
  test.each(groups)('keep what is promised, whatever happens, seeds $first to $last', async ({ seeds }) => {
    const broken: string[] = [];
    for (const seed of seeds) {
      const outcome = await simulate(planOf(seed), sources);
      broken.push(...wordsOf(seed, outcome));
      if (seed % REPEATED_ONE_IN !== 0) continue;
      const { digest } = await simulate(planOf(seed), sources);
      if (digest !== outcome.digest) broken.push(`Seed ${String(seed)} does not repeat`);
    }
    expect(broken).toEqual([]);
  });
});
