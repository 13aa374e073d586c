import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';
import { FAULTS } from './mutations/table.ts';

const SEEDS = repeats(200);
/** A usual run has the same seeds each time, a deep one has new ones. */
const BEFORE = IS_DEEP ? SEED * 100_000 : 0;
/** Of so many seeds one is run once more. */
const REPEATED_ONE_IN = '4';

/** In a process of its own, since modules as the test runner has them are slower by half. */
function simulated(from: number, to: number): Promise<{ readonly isWhole: boolean; readonly said: string }> {
  const options = ['--max-semi-space-size=64', '--import', 'tsx', 'test/simulation/main.ts'];
  const seeds = [String(from), String(to), '--repeat-one-in', REPEATED_ONE_IN];
  return new Promise((resolve) => {
    execFile(process.execPath, [...options, ...seeds], (error, stdout, stderr) => {
      resolve({ isWhole: error === null, said: stdout + stderr });
    });
  });
}

test(
  'processes, clients and hosts under one seed keep what is promised, whatever happens',
  async () => {
    const { isWhole, said } = await simulated(BEFORE + 1, BEFORE + SEEDS);
    console.log(said.trim().split('\n').at(-1));
    expect(isWhole, said).toBe(true);
  },
  60 * 60_000,
);

test.each(FAULTS)('what it takes to put back "$name" stands once in the sources', ({ file, from }) => {
  expect(readFileSync(file, 'utf8').split(from)).toHaveLength(2);
});
