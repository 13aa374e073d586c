import { randomExponential, randomLcg } from 'd3-random';

import { describe, expect, test } from 'vitest';
import { LANES } from '../../../../src/domain/lane.ts';
import { Host, Thread } from '../../src/simulation/host.ts';
import { Lags } from '../../src/simulation/lags.ts';
import { simulateFanOut } from '../../src/simulation/simulate.ts';
import { costAmong, type Arrival, type FanOutSystem } from '../../src/simulation/system.ts';
import { Timeline } from '../../src/simulation/timeline.ts';
import { fc } from '../../../../test/support/fast-check.ts';
import { repeats, SEED } from '../../../../test/support/seed.ts';

const JOBS = 60_000;
/** A share of one, from which everything random here begins. */
const chance = (): (() => number) => randomLcg((SEED % 1_000) / 1_000);

interface Queue {
  readonly rate: number;
  /** Seconds of one job. */
  readonly service: () => number;
  /** Hands a job to what is tested. */
  readonly give: (seconds: number, done: () => void) => void;
}

/** Seconds from when a job comes to when it is done, on average, and how many were there at a time. */
function play(timeline: Timeline, { rate, service, give }: Queue): { mean: number; present: number } {
  const gap = randomExponential.source(chance())(rate);
  const lags = new Lags();
  let at = 0;
  for (let n = 0; n < JOBS; n += 1) {
    at += gap();
    const came = at;
    timeline.at(came, () => {
      give(service(), () => {
        lags.add(timeline.now - came);
      });
    });
  }
  timeline.run();
  return { mean: lags.mean, present: (lags.mean * lags.count) / timeline.now };
}

describe('a simulated host, compared with queueing theory', () => {
  test('with one core and random service times waits 1 / (service rate - arrival rate): M/M/1', () => {
    const timeline = new Timeline();
    const host = new Host(timeline, 1);
    const service = randomExponential.source(randomLcg(0.3))(1);
    const { mean, present } = play(timeline, {
      ...{ rate: 0.7, service },
      give: (seconds, done) => {
        host.run(seconds, done);
      },
    });
    expect(mean).toBeGreaterThan(0.93 / (1 - 0.7));
    expect(mean).toBeLessThan(1.07 / (1 - 0.7));
    // Little's law: how many there are is how many come, times how long they stay.
    expect(host.jobSeconds / timeline.now).toBeCloseTo(present, 6);
  });

  test('with one thread and fixed service times waits half as long: M/D/1', () => {
    const timeline = new Timeline();
    const thread = new Thread(new Host(timeline, 1));
    const { mean } = play(timeline, {
      ...{ rate: 0.7, service: () => 1 },
      give: (seconds, done) => {
        thread.run(seconds, done);
      },
    });
    const known = 1 + 0.7 / (2 * (1 - 0.7));
    expect(mean / known).toBeGreaterThan(0.95);
    expect(mean / known).toBeLessThan(1.05);
  });

  test("with several cores matches Erlang's formula: M/M/3", () => {
    const timeline = new Timeline();
    const host = new Host(timeline, 3);
    const service = randomExponential.source(randomLcg(0.6))(1);
    const offered = 2.1;
    const { mean } = play(timeline, {
      ...{ rate: offered, service },
      give: (seconds, done) => {
        host.run(seconds, done);
      },
    });
    const known = 1 + erlangC(3, offered) / (3 - offered);
    expect(mean / known).toBeGreaterThan(0.95);
    expect(mean / known).toBeLessThan(1.05);
  });

  test('shares its cores equally, and leaves none idle while there is work', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ at: fc.nat(50), seconds: fc.integer({ min: 1, max: 20 }) }), { minLength: 1 }),
        (cores, jobs) => {
          const timeline = new Timeline();
          const host = new Host(timeline, cores);
          let done = 0;
          for (const { at, seconds } of jobs)
            timeline.at(at, () => {
              host.run(seconds, () => {
                done += 1;
                // Nothing is faster than alone.
                expect(timeline.now - at).toBeGreaterThan(seconds - 1e-6);
              });
            });
          timeline.run();
          const work = jobs.reduce((sum, { seconds }) => sum + seconds, 0);
          expect(done).toBe(jobs.length);
          expect(host.worked).toBeCloseTo(work, 6);
          expect(timeline.now).toBeGreaterThan(work / cores - 1e-6);
          expect(timeline.now).toBeLessThan(50 + work + 1e-6);
        },
      ),
      { numRuns: repeats(100) },
    );
  });
});

const SYSTEM: FanOutSystem = {
  ...{
    workers: 2,
    databaseCores: 2,
    isOneMachine: false,
    concurrency: 4,
    chunkSize: 100,
    leaseSeconds: 30,
    pollSeconds: 1,
  },
  costs: {
    publish: { process: 0.001, database: 0.001, wait: 0.001 },
    pass: { process: 0.002, database: 0.002, wait: 0.005 },
    delivery: { process: 10e-6, database: 30e-6 },
    chunkWait: 0.002,
  },
};

const arrivals = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 5_000 }).map((ms) => ms / 1_000),
    lane: fc.constantFrom(...LANES),
    readers: fc.oneof(fc.nat(50), fc.nat(2_000)),
  }),
  { minLength: 1, maxLength: 60 },
);

const total = (list: readonly Arrival[]): number => list.reduce((sum, { readers }) => sum + readers, 0);

describe('a simulated fan-out', () => {
  test('delivers to every reader once, however often a worker dies', () => {
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 0, max: 6_000 }), fc.boolean(), (list, ms, isBusiest) => {
        const { readers, actions } = simulateFanOut(SYSTEM, list, {
          ...{ worker: isBusiest ? 'busiest' : 0, at: ms / 1_000, backAfter: 3 },
        });
        expect(readers.count).toBe(total(list));
        expect(actions.count).toBe(list.length);
      }),
      { numRuns: repeats(100) },
    );
  });

  test("obeys Little's law and does no extra work, except lookups that another worker wins", () => {
    fc.assert(
      fc.property(arrivals, (list) => {
        const { actions, drainedAt, meanOpen, databaseUse } = simulateFanOut(SYSTEM, list);
        expect(meanOpen * drainedAt).toBeCloseTo(actions.mean * actions.count, 6);
        const { publish, pass, delivery } = SYSTEM.costs;
        const work = list.length * (publish.database + pass.database) + total(list) * delivery.database;
        const done = databaseUse * SYSTEM.databaseCores * drainedAt;
        expect(done).toBeGreaterThan(work - 1e-6);
        // A worker that finds more than one wakes another one, and each is lost to another one as often as there are others.
        const command = pass.database / 5;
        expect(done).toBeLessThan(work + list.length * (SYSTEM.workers + 1) * command + 1e-6);
      }),
      { numRuns: repeats(100) },
    );
  });

  test('takes the sum of its parts for a single action', () => {
    const { costs } = SYSTEM;
    const { actions } = simulateFanOut(SYSTEM, [{ at: 1, lane: 'LIVE', readers: 100 }]);
    const sum = ({ process, database, wait }: FanOutSystem['costs']['pass']): number =>
      process + database + wait;
    const chunk = 100 * (costs.delivery.process + costs.delivery.database) + costs.chunkWait;
    expect(actions.mean).toBeCloseTo(sum(costs.publish) + sum(costs.pass) + chunk, 9);
  });

  test('is done before its follow-up work, which delays the next one', () => {
    const { costs } = SYSTEM;
    const beside: FanOutSystem = {
      ...{ ...SYSTEM, workers: 1, databaseCores: 1, concurrency: 1 },
      costs: { ...costs, pass: { ...costs.pass, onPath: 0.25 } },
    };
    const alone = (system: FanOutSystem): number =>
      simulateFanOut(system, [{ at: 0, lane: 'LIVE', readers: 0 }]).actions.mean;
    const cpu = costs.pass.process + costs.pass.database;
    const onPath = alone({ ...beside, costs: { ...beside.costs, pass: costs.pass } }) - 0.75 * cpu;
    expect(alone(beside)).toBeGreaterThan(onPath - 1e-9);
    // It may meet the look for when the next one is due.
    expect(alone(beside)).toBeLessThan(onPath + 0.2 * cpu);
    const crowd = Array.from({ length: 100 }, (): Arrival => ({ at: 0, lane: 'LIVE', readers: 0 }));
    // In the end all of the work has to be done: one thread of the worker does it.
    expect(simulateFanOut(beside, crowd).drainedAt).toBeGreaterThan(99 * costs.pass.process);
  });

  test('finishes sooner with more workers, and later with more work', () => {
    const steady = (readers: number): Arrival[] =>
      Array.from({ length: 200 }, (_, n) => ({ at: n / 1_000, lane: 'LIVE' as const, readers }));
    const heavy = { ...SYSTEM, databaseCores: 16 };
    const means = [1, 2, 4, 8].map(
      (workers) => simulateFanOut({ ...heavy, workers }, steady(2_000)).actions.mean,
    );
    expect(means).toEqual([...means].sort((a, b) => b - a));
    expect(means[0]).toBeGreaterThan(2 * (means[2] ?? NaN));
    const lags = [0, 100, 1_000, 5_000].map(
      (readers) => simulateFanOut(SYSTEM, steady(readers)).actions.mean,
    );
    expect(lags).toEqual([...lags].sort((a, b) => a - b));
  });

  test('lets live actions overtake an import, which still gets its share', () => {
    const imported = Array.from({ length: 300 }, () => ({ at: 0, lane: 'BULK' as const, readers: 500 }));
    const live = Array.from({ length: 20 }, (_, n) => ({
      at: 0.5 + n / 20,
      lane: 'LIVE' as const,
      readers: 50,
    }));
    const alone = simulateFanOut(SYSTEM, live);
    const beside = simulateFanOut(SYSTEM, [...imported, ...live]);
    expect(beside.actions.count).toBe(320);
    const sorted = [0.01, 0.06].map((share) => beside.actions.quantile(share));
    expect(sorted[1]).toBeLessThan(4 * alone.actions.quantile(0.99));
  });

  test('delays feeds until the lease expires if the only worker dies', () => {
    const steady = Array.from({ length: 100 }, (_, n) => ({
      at: n / 10,
      lane: 'LIVE' as const,
      readers: 500,
    }));
    const one = { ...SYSTEM, workers: 1, leaseSeconds: 30, pollSeconds: 1 };
    const lost = simulateFanOut(one, steady, { worker: 0, at: 5, backAfter: 2 });
    expect(simulateFanOut(one, steady).actions.quantile(1)).toBeLessThan(1);
    expect(lost.actions.quantile(0.5)).toBeLessThan(1);
    expect(lost.actions.quantile(0.95)).toBeGreaterThan(1);
  });
});

test('passes in progress share the work that is done once for all of them', () => {
  const alone = { process: 10, database: 20, wait: 3, amongMany: { process: 4, database: 8 } };
  expect(costAmong(alone, 1)).toMatchObject({ process: 10, database: 20, wait: 3 });
  expect(costAmong(alone, 4)).toMatchObject({ process: 5.5, database: 11, wait: 3 });
  const { amongMany: _, ...same } = alone;
  expect(costAmong(same, 4)).toBe(same);
  // So a burst ends sooner, and what comes one at a time takes as long as before.
  const cheaper = (cost: FanOutSystem['costs']['pass']) => ({
    ...cost,
    amongMany: { process: cost.process / 2, database: cost.database / 2 },
  });
  const { publish, pass } = SYSTEM.costs;
  const sharing = {
    ...{ ...SYSTEM, isOneMachine: true },
    costs: { ...SYSTEM.costs, publish: cheaper(publish), pass: cheaper(pass) },
  };
  const apart = { ...SYSTEM, isOneMachine: true };
  const drained = (system: FanOutSystem, gap: number): number =>
    simulateFanOut(
      system,
      Array.from({ length: 40 }, (_gap, n) => ({ at: n * gap, lane: 'LIVE' as const, readers: 1 })),
    ).drainedAt;
  expect(drained(sharing, 1)).toBeCloseTo(drained(apart, 1), 9);
  expect(drained(sharing, 0)).toBeLessThan(0.85 * drained(apart, 0));
});

describe('two workers', () => {
  const apart = Array.from({ length: 50 }, (_, n): Arrival => ({ at: n, lane: 'LIVE', readers: 1 }));
  const atWork = (system: FanOutSystem, list: readonly Arrival[]): number => {
    const { databaseUse, drainedAt } = simulateFanOut(system, list);
    return databaseUse * system.databaseCores * drainedAt;
  };

  test('are both notified of each action, and one of them leaves it to the other', () => {
    const wake = { process: 0.01, database: 0.004 };
    const waking = { ...SYSTEM, costs: { ...SYSTEM.costs, wake } };
    const more = atWork(waking, apart) - atWork({ ...waking, workers: 1 }, apart);
    expect(more).toBeCloseTo(50 * wake.database, 9);
  });

  test('share the work equally, so half of it waits for the lease of one that dies', () => {
    // All come at once, and none ends before one of them dies.
    const slow = { ...SYSTEM, concurrency: 20, costs: { ...SYSTEM.costs, chunkWait: 60 } };
    const all = Array.from({ length: 20 }, (): Arrival => ({ at: 0, lane: 'LIVE', readers: 50 }));
    const { actions } = simulateFanOut(slow, all, { worker: 0, at: 5, backAfter: null });
    const late = Array.from({ length: 20 }, (_, n) => actions.quantile((n + 0.5) / 20)).filter(
      (lag) => lag > 70,
    );
    expect(late.length).toBeGreaterThan(6);
    expect(late.length).toBeLessThan(14);
  });

  test('look again if they lose everything they found to each other', () => {
    const crowd = Array.from({ length: 200 }, (): Arrival => ({ at: 0, lane: 'LIVE', readers: 1 }));
    const { actions } = simulateFanOut({ ...SYSTEM, workers: 8, concurrency: 16 }, crowd);
    expect(actions.count).toBe(200);
  });
});

test('a small fan-out waits for parts of concurrent chunks, not for whole chunks', () => {
  const free = { process: 0, database: 0, wait: 0 };
  const costs = { publish: free, pass: free, delivery: { process: 1e-3, database: 0 }, chunkWait: 0 };
  // Three chunks at a time, each 100 ms of the process; seven things to do for the small one.
  const all: Arrival[] = [
    { at: 0, lane: 'LIVE', readers: 2_000 },
    { at: 0.5, lane: 'LIVE', readers: 1 },
  ];
  const { actions } = simulateFanOut({ ...SYSTEM, workers: 1, costs }, all);
  expect(actions.quantile(0.5)).toBeLessThan(0.5);
  // Nothing is left out of the large one.
  expect(actions.quantile(1)).toBeCloseTo(2.001, 6);
});

test('an action counts as delivered when its last reader has it, not when this is recorded', () => {
  const { costs } = SYSTEM;
  const one: Arrival[] = [{ at: 0, lane: 'LIVE', readers: 1 }];
  const pass = { ...costs.pass, onPath: 0.5 };
  const { actions, readers } = simulateFanOut({ ...SYSTEM, costs: { ...costs, pass } }, one);
  expect(actions.mean).toBe(readers.mean);
});

test('if the busiest worker dies at the peak, most readers wait for its lease', () => {
  const small = Array.from({ length: 20 }, (_, n): Arrival => ({ at: n / 2, lane: 'LIVE', readers: 50 }));
  // Beside one that another worker is at, and early: halfway through nothing would be under way.
  const list = [...small, { at: 1, lane: 'LIVE' as const, readers: 500 }];
  const large = { at: 1.001, lane: 'LIVE' as const, readers: 20_000 };
  const all = [...list, large];
  const { longestAt, readers } = simulateFanOut(SYSTEM, all);
  expect(longestAt).toBeGreaterThan(large.at);
  expect(readers.quantile(1)).toBeLessThan(SYSTEM.leaseSeconds);
  const lost = simulateFanOut(SYSTEM, all, { worker: 'busiest', at: longestAt, backAfter: 10 });
  expect(lost.readers.count).toBe(total(all));
  // Leases are renewed three times within their length.
  expect(lost.readers.quantile(0.5)).toBeGreaterThan((SYSTEM.leaseSeconds * 2) / 3);
});

test.for([
  ['right after it was taken', 0.5, 0.5, 0.1],
  ['long after', 25, 5, 0.1],
  // It is back at 1.5 s and looks each two seconds; the lease ends at 30 s.
  ['and is taken over when a worker looks for such', 0.5, 0.5 - 1.5, 2],
] as const)(
  "a fan-out waits for the rest of a dead worker's lease %s",
  ([, diedAfter, sinceRenewal, pollSeconds]) => {
    // Half a chunk that takes a minute: there is no checkpoint, only the renewals, every ten seconds.
    const slow: FanOutSystem = {
      ...{ ...SYSTEM, workers: 1, pollSeconds },
      costs: {
        ...{ publish: { process: 0, database: 0, wait: 0 }, pass: { process: 0, database: 0, wait: 0 } },
        ...{ delivery: { process: 0, database: 0 }, chunkWait: 60 },
      },
    };
    const one: Arrival[] = [{ at: 0, lane: 'LIVE', readers: SYSTEM.chunkSize / 2 }];
    const { actions } = simulateFanOut(slow, one, { worker: 0, at: diedAfter, backAfter: 1 });
    const takenOverAt = diedAfter + SYSTEM.leaseSeconds - sinceRenewal;
    expect(actions.mean).toBeCloseTo(takenOverAt + 60, 9);
  },
);

test('lags are weighted by the number of readers', () => {
  const lags = new Lags();
  lags.add(1, 98);
  lags.add(7, 1);
  lags.add(3, 1);
  expect([0.5, 0.98, 0.99, 1].map((share) => lags.quantile(share))).toEqual([1, 1, 3, 7]);
});

/** The share of jobs that wait, with so many cores and so much work offered. */
function erlangC(cores: number, offered: number): number {
  let term = 1;
  let sum = 1;
  for (let n = 1; n < cores; n += 1) {
    term *= offered / n;
    sum += term;
  }
  const all = ((term * offered) / cores) * (cores / (cores - offered));
  return all / (sum + all);
}
