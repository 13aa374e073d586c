import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { arrivalsOf } from '../../src/arrivals.ts';
import { MEASURED_COSTS } from '../../src/measured-costs.ts';
import { pulledBy } from '../../src/operations.ts';
import { planOf, type Size, sizeOf } from '../../src/plan.ts';
import { planPage } from '../../src/page.ts';
import { planLines } from '../../src/print.ts';
import { reportOf } from '../../src/report.ts';
import type { Plan } from '../../src/shape.ts';
import { popularity, sumOf } from '../../src/popularity.ts';
import { workloadOf, type GivenWorkload } from '../../src/workload.ts';
import { createProgram } from '../../../../src/cli/program.ts';
import { FEATURES } from '../../../../src/app/features.ts';
import { recordingTerminal } from '../../../../test/support/recording-terminal.ts';
import { fc } from '../../../../test/support/fast-check.ts';
import { repeats } from '../../../../test/support/seed.ts';
import { commandContext } from '../../../../test/support/command-context.ts';

const plan = (given: GivenWorkload): Plan => planOf(workloadOf(given), MEASURED_COSTS);
/** Costs much less than a plan, since nothing is simulated. */
const size = (given: GivenWorkload, costs = MEASURED_COSTS): Size => sizeOf(workloadOf(given), costs);

async function printed(...args: string[]): Promise<string> {
  const { terminal, stdout } = recordingTerminal();
  const program = await createProgram(commandContext({ env: {}, terminal }), FEATURES, () => undefined);
  await program.parseAsync(['node', 'fanfare', 'plan', ...args]);
  return stdout.join('\n');
}

describe('the distribution of follows over refs', () => {
  const options = fc.record({
    members: fc.integer({ min: 1, max: 100_000_000 }),
    follows: fc.integer({ min: 1, max: 500 }),
    refs: fc.integer({ min: 1, max: 100_000_000 }),
    exponent: fc.double({ min: 0, max: 2, noNaN: true }),
    activityExponent: fc.double({ min: 0, max: 1.5, noNaN: true }),
  });

  test('adds up to all follows, gives no ref more followers than members, and puts the most popular ref first', () => {
    fc.assert(
      fc.property(options, (given) => {
        const strata = popularity(given);
        const follows = sumOf(strata, ({ refs, followers }) => refs * followers);
        // Where there are fewer refs than a member is to follow, each member follows all.
        expect(follows).toBeCloseTo(
          given.members * Math.min(given.follows, given.refs),
          -Math.log10(follows) + 3,
        );
        expect(sumOf(strata, ({ refs }) => refs)).toBe(given.refs);
        expect(sumOf(strata, ({ actionShare }) => actionShare)).toBeCloseTo(1, 9);
        const followers = strata.map((stratum) => stratum.followers);
        expect(Math.max(...followers)).toBeLessThanOrEqual(given.members);
        for (const [index, value] of followers.entries())
          expect(value).toBeLessThanOrEqual((followers[index - 1] ?? Infinity) * (1 + 1e-9));
      }),
      { numRuns: repeats(50) },
    );
  });

  test('gives the same sums for a hundred million refs in groups as one by one', () => {
    const given = { members: 1e6, follows: 20, refs: 20_000, exponent: 0.8, activityExponent: 0.5 };
    const weights = Array.from({ length: given.refs }, (_, n) => (n + 1) ** -0.8);
    const scale = (1e6 * 20) / weights.reduce((sum, weight) => sum + weight, 0);
    const above = weights.filter((weight) => weight * scale > 5_000);
    const { refs, followed } = pulledBy(popularity(given), 1e6, 5_000);
    expect(refs / above.length).toBeCloseTo(1, 1);
    expect(followed / above.reduce((sum, weight) => sum + (weight * scale) / 1e6, 0)).toBeCloseTo(1, 1);
  });
});

test('actions arrive at the requested rate, and identically for the same seed', () => {
  const strata = popularity({ members: 1e5, follows: 20, refs: 1e5, exponent: 1, activityExponent: 0.5 });
  const given = { strata, rate: 50, seconds: 400, threshold: 1_000, seed: 7 };
  const arrivals = arrivalsOf(given);
  expect(arrivals).toEqual(arrivalsOf(given));
  expect(arrivals).not.toEqual(arrivalsOf({ ...given, seed: 8 }));
  expect(arrivals.length / (50 * 400)).toBeCloseTo(1, 1);
  const readers = arrivals.reduce((sum, arrival) => sum + arrival.readers, 0) / arrivals.length;
  const expected = sumOf(strata, ({ followers, actionShare }) =>
    followers > 1_000 ? 0 : followers * actionShare,
  );
  expect(readers / expected).toBeCloseTo(1, 0);
  expect(Math.max(...arrivals.map((arrival) => arrival.readers))).toBeLessThanOrEqual(1_000);
});

describe('a plan', () => {
  test('is identical for the same seed', () => {
    expect(plan({ members: 100_000 })).toEqual(plan({ members: 100_000 }));
  });

  test('grows with the number and activity of members', () => {
    const small = size({ members: 100_000 });
    for (const given of [{ members: 1_000_000 }, { members: 100_000, actions: 100_000, reads: 3_000_000 }]) {
      const large = size(given);
      for (const part of ['api', 'worker', 'database'] as const)
        expect(large.cores[part]).toBeGreaterThan(small.cores[part]);
      expect(large.storage[0]?.bytes).toBeGreaterThan(small.storage[0]?.bytes ?? NaN);
    }
  });

  test('pushes less and pulls more as the threshold falls', () => {
    const { thresholds } = plan({ members: 5_000_000 });
    const columns = (['deliveries', 'lastFollower'] as const).map((what) =>
      thresholds.map((one) => one[what]),
    );
    for (const column of columns) expect(column).toEqual([...column].sort((a, b) => a - b));
    const pulled = thresholds.map(({ pulledFollowed }) => pulledFollowed);
    expect(pulled).toEqual([...pulled].sort((a, b) => b - a));
    expect(pulled.at(-1)).toBe(0);
  });

  test('stores no more entries than the cap allows, and none with pulled feeds', () => {
    const entries = (given: Partial<GivenWorkload>): number =>
      size({ members: 100_000, actions: 1_000_000, ...given }).storage[1]?.documents ?? NaN;
    expect(entries({ cap: 50 })).toBe(5_000_000);
    expect(entries({ cap: 1_000 })).toBeGreaterThan(entries({ cap: 50 }));
    expect(entries({ model: 'pull' })).toBe(0);
  });

  test('warns of too few workers, and of a threshold at which the last follower waits for minutes', () => {
    expect(plan({ members: 1_000 }).advice).toEqual([]);
    const few = plan({ members: 2_000_000, actions: 20_000_000, threshold: 1_000, workers: 1 });
    expect(few.advice[0]).toMatch(/^1 worker is too few, \d+ are enough$/);
    expect(few.lag.p99).toBeGreaterThan(plan({ ...few.workload, workers: null }).lag.p99);
    const late = plan({ members: 5_000_000, threshold: 5_000_000 });
    expect(late.advice.join('\n')).toMatch(/CELEBRITY_THRESHOLD=\d+: /);
  });

  test('gives no advice without effect: a threshold for nearly idle cores, or if everything is pulled', () => {
    expect(plan({ members: 1_000, threshold: 0 }).advice).toEqual([]);
    const pulled = plan({ members: 10_000_000, model: 'pull' }).advice.join('\n');
    expect(pulled).toContain('a feed model that stores entries has fewer of them');
    expect(pulled).not.toMatch(/threshold/i);
  });

  test('says whether shards are needed for storage or for CPU', () => {
    const [busy = ''] = plan({ members: 100, readers: 100, reads: 1_000_000_000 }).advice;
    expect(busy).toMatch(/^one replica set does not suffice: .*busy cores, and a machine 8: larger machines/);
    expect(busy).not.toContain('FEED_CAP');
    const stored = plan({ members: 10_000_000, cores: 16 }).advice.join('\n');
    expect(stored).toContain('most of it is entries of feeds');
    expect(stored).toContain('a lower FEED_CAP takes less');
  });

  test('counts a page of notifications as 3.5 pages of the API and the database, and stores a state of each member', () => {
    const of = (given: Partial<GivenWorkload>): Size => size({ members: 1_000_000, ...given });
    const [idle, looked] = [of({ notifications: 0, peak: 1 }), of({ notifications: 864_000, peak: 1 })];
    expect(looked.operations.notifications).toBeCloseTo(10, 9);
    const { page } = MEASURED_COSTS;
    expect(looked.cores.api - idle.cores.api).toBeCloseTo((10 * 3.5 * page.process) / 1e6, 6);
    expect(looked.cores.database - idle.cores.database).toBeCloseTo((10 * 3.5 * page.database) / 1e6, 6);
    expect([looked.cores.worker, looked.cores.redis]).toEqual([idle.cores.worker, idle.cores.redis]);
    expect([idle, looked].map(({ storage }) => storage.at(-1)?.documents)).toEqual([0, 1_000_000]);
    expect(of({}).operations.notifications).toBeCloseTo(of({}).operations.pages / 5, 9);
  });

  test('counts a page of a reader who marks much as three pages', () => {
    const of = (marking: number): Plan => plan({ members: 1_000_000, reads: 864_000, peak: 1, marking });
    const [none, half] = [of(0), of(0.5)];
    expect(half.operations.marked).toBeCloseTo(5, 9);
    const { page } = MEASURED_COSTS;
    expect(half.cores.api - none.cores.api).toBeCloseTo((5 * 2 * page.process) / 1e6, 6);
    expect(half.cores.database - none.cores.database).toBeCloseTo((5 * 2 * page.database) / 1e6, 6);
    expect(planLines(half).join('\n')).toContain('of readers who mark much');
  });

  test('counts the wake-ups of all workers but one as overhead', () => {
    const wake = { process: 400, database: 30 };
    const of = (costs: typeof MEASURED_COSTS): Size => size({ members: 10_000_000, workers: 11 }, costs);
    const { cores, operations } = of({ ...MEASURED_COSTS, wake });
    const none = of({ ...MEASURED_COSTS, wake: { process: 0, database: 0 } }).cores;
    expect(cores.worker - none.worker).toBeCloseTo((operations.actions * 10 * wake.process) / 1e6, 6);
    expect(cores.database - none.database).toBeCloseTo((operations.actions * 10 * wake.database) / 1e6, 6);
  });

  test('has as many workers as can handle the work and the wake-ups', () => {
    const of = (process: number): Size =>
      size({ members: 100_000_000 }, { ...MEASURED_COSTS, wake: { process, database: 0 } });
    const { suffices, cores } = of(800);
    const without = of(0).suffices;
    expect(suffices).toBeGreaterThan(without);
    expect(cores.worker / suffices).toBeLessThanOrEqual(0.6);
    // Hearing of them may take most of a worker's time: even then, twice as many are enough for the work.
    for (const process of [1_728, 10_000]) {
      expect(of(process).suffices).toBeGreaterThan(without);
      expect(of(process).suffices).toBeLessThanOrEqual(2 * without);
    }
  });

  test('has no worker machine without a worker', () => {
    expect(size({ members: 1_000_000, workers: 1 }).machines.worker).toBe(1);
    expect(size({ members: 1_000_000 }).machines.worker).toBe(2);
    expect(size({ members: 1_000_000, workers: 17 }).machines.worker).toBe(3);
  });
});

describe('fanfare plan', () => {
  test('uses the singular for one, and reports no delay if nothing is written', async () => {
    const one = await printed('--members', '1', '--workers', '1');
    expect(one).toMatch(/^1 member, 1 reader a day, feed model items, threshold 10,000\n/);
    expect(one).toContain('(1 process)');
    expect(one).toContain('(1 shard of three)');
    for (const args of [
      ['--model', 'pull'],
      ['--threshold', '0'],
    ]) {
      const pulled = await printed('--members', '1M', ...args);
      expect(pulled).toContain(
        'Nothing is written into feeds: readers find an action as soon as it is published.',
      );
      expect(pulled).not.toContain('until a reader has an action');
    }
    expect(await printed('--members', '1M', '--model', 'pull')).toMatch(/^.*feed model pull\n/);
  });

  test('prints text for people, or everything as JSON', async () => {
    const text = await printed('--members', '1M', '--threshold', '5k');
    expect(text).toMatch(/^1,000,000 members, 300,000 readers a day, feed model items, threshold 5,000\n/);
    for (const part of ['busy cores', 'stored after', 'until a reader has an action', 'To change:'])
      expect(text).toContain(part);
    const json = JSON.parse(await printed('--members', '1M', '--threshold', '5k', '--json')) as Plan;
    expect(json.workload).toEqual(workloadOf({ members: 1_000_000, threshold: 5_000 }));
    expect(json.thresholds.map(({ threshold }) => threshold)).toEqual([1e3, 5e3, 1e4, 1e5, 1e6, null]);
  });

  test.each([
    [[], "required option '--members <n>' not specified"],
    [['--members', '0'], 'Expected a whole number from 1 to 1,000,000,000, such as 8, 250k, 1.5M or 1G.'],
    [['--members', '10.5'], 'Expected a whole number'],
    [['--members', '1M', '--workers', '2.5'], 'Expected a whole number from 1 to 1,000'],
    [['--members', '10', '--follows', '0'], 'Expected a number from 0.01 to 100,000, such as 0.5'],
    [['--members', '1e9'], 'Expected a whole number'],
    [['--members', '10', '--readers', '11'], '--readers 11: there are only 10 members'],
    [
      ['--members', '10', '--model', 'toast'],
      'There are no unit costs for the feed model toast, only for items, capped',
    ],
    [['--members', '10', '--costs', '/nowhere'], '--costs /nowhere cannot be read'],
    [['--members', '10', '--costs', 'package.json'], 'raw'],
  ])('rejects %j', async (args, message) => {
    const { terminal, stderr } = recordingTerminal();
    const program = await createProgram(commandContext({ env: {}, terminal }), FEATURES, () => undefined);
    const error: unknown = await program
      .parseAsync(['node', 'fanfare', 'plan', ...args])
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(`${String(error)}\n${stderr.join('\n')}`).toContain(message);
  });
});

describe('a plan as a page', () => {
  /** What is read there, without what is only seen. */
  const wordsOf = (html: string): string =>
    html
      .replaceAll(/<(style|svg)\b[^]*?<\/\1>/g, '')
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll('&gt;', '>')
      .replaceAll(/\s+/g, ' ');

  test.each([
    ['everything', { members: 10_000_000 }],
    ['nothing written into feeds', { members: 1_000_000, model: 'pull' }],
  ])('says all that the text says, with %s', (_name, given) => {
    const planned = plan(given);
    const { title, tables, instead, advice, notes } = reportOf(planned);
    const figures = tables.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells));
    const said = [title, ...figures, ...(instead === null ? [] : [instead]), ...advice, ...notes];
    expect(said.length).toBeGreaterThan(25);
    for (const words of [planLines(planned).join(' '), wordsOf(planPage(planned))])
      expect(said.filter((one) => !words.includes(one))).toEqual([]);
  });

  test('has the colours of the console, and lets itself load nothing', async () => {
    const html = planPage(plan({ members: 1_000 }));
    const tokens = await readFile(new URL('../../../../packages/react/tokens.css', import.meta.url), 'utf8');
    const own = [...html.matchAll(/^ *(--fanfare-[\w-]+: .*;)$/gm)].map(([, token = '']) => token);
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter((token) => !tokens.includes(token))).toEqual([]);
    expect(html).toContain(`content="default-src 'none'; style-src 'sha256-`);
    expect(html).not.toMatch(/<script|<link|style="|url\(|https?:/);
  });

  test('is a file where it is asked for, readable by this user alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fanfare-plan-'));
    try {
      const path = join(folder, 'plan.html');
      expect(await printed('--members', '1M', '--html', path)).toBe(
        `${path} is written: open it in a browser.`,
      );
      expect(await readFile(path, 'utf8')).toBe(planPage(plan({ members: 1_000_000 })));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
