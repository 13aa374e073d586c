import { openLoop, type Answered, type LoadOutcome } from '../harness/open-loop.ts';
import { watchUsage } from '../harness/process-usage.ts';
import { seededRandom } from '../harness/random.ts';
import type { PartReport } from '../harness/report.ts';
import { now } from '../harness/statistics.ts';
import { openLoadWorld, type LoadWorld } from '../world/load-world.ts';
import { climb, type Bounds } from './load-ladder.ts';
import { mixedLoadReport, type Push } from './mixed-load-report.ts';
import { sized, type Part, type PartContext } from './part.ts';

const DATABASE = 'bench_load';
const SEED = 7;
const MOST_OPEN = 2_000;
const BOUNDS: Bounds = { p99: 250, behind: 5_000 };

/** Many readers at once through HTTP and WebSocket, arriving at a fixed rate whatever becomes of those before. */
export const mixedLoadPart: Part = { name: 'mixed-load', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  await using load = await openLoadWorld({
    environment,
    database: DATABASE,
    sizes: sized(options, {
      full: { members: Infinity, readers: 5_000, actions: 1_000, active: 2_000, watching: 300 },
      short: { members: Infinity, readers: 2_000, actions: 100, active: 1_000, watching: 100 },
      smoke: { members: 200, readers: 100, actions: 10, active: 100, watching: 50 },
    }),
    traceDir: options.traceDir,
    profileDir,
    say,
  });
  const ladder = await climb(load, {
    rates: sized(options, { full: rates(5, 18), short: rates(5, 14), smoke: [20, 40] }),
    // The smallest size is run anywhere, and its times mean nothing.
    bounds: sized(options, { full: BOUNDS, short: BOUNDS, smoke: { p99: 60_000, behind: 60_000 } }),
    seconds: sized(options, { full: 10, short: 5, smoke: 1 }),
    say,
  });
  const rate = ladder.highest / 2;
  const seconds = 60 * (options.loadMinutes ?? sized(options, { full: 3, short: 0.5, smoke: 0.07 }));
  say(`${rate.toFixed(0)} operations/s for ${seconds.toFixed(0)} s`);
  const answered: Answered[] = [];
  await allDelivered(load);
  await load.watchers.call('look', null);
  const startedAt = now();
  const usage = watchUsage(
    new Map([
      [process.pid, 'generator'],
      [load.api.pid, 'api'],
      [load.worker.pid, 'worker'],
      [load.watchers.pid, 'sockets'],
    ]),
  );
  const outcome = await openLoop({
    shares: load.mix.shares,
    rate,
    seconds,
    maxOpen: MOST_OPEN,
    random: seededRandom(SEED),
    onAnswered: (one) => answered.push(one),
  });
  const processes = usage.stop();
  expectHealthy(outcome);
  return mixedLoadReport({
    about: load.about,
    ladder,
    rate,
    seconds,
    windows: sized(options, { full: 6, short: 3, smoke: 1 }),
    outcome,
    answered,
    processes,
    push: await pushOf(load, startedAt),
  });
}

/** Each step by two fifths above the one before. */
function rates(first: number, steps: number): readonly number[] {
  return Array.from({ length: steps }, (_, step) => Math.round(first * 1.4 ** step));
}

/** Half of what can be sustained has to go through whole, else the figures say nothing. */
function expectHealthy({ isOverrun, all, firstFailure }: LoadOutcome): void {
  if (isOverrun) throw new Error('The load could not be served, though twice its rate had been sustained');
  if (all.failed > 0)
    throw new Error(`${String(all.failed)} operations failed, the first: ${firstFailure ?? ''}`);
}

async function allDelivered({ openFanOuts }: LoadWorld): Promise<void> {
  while ((await openFanOuts()) > 0) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** What the watchers saw of the measured run, once all of it has been delivered. */
async function pushOf(load: LoadWorld, startedAt: number): Promise<Push> {
  await allDelivered(load);
  const { events, added, troubles } = await load.watchers.call('look', null);
  if (troubles.length > 0) throw new Error(`The watchers had trouble:\n${troubles.join('\n')}`);
  return {
    events,
    milliseconds: added.flatMap(({ action, at }) => {
      const sentAt = load.mix.published.get(action);
      // What was sent before is of a step of the ladder, the last of which is more than the server can take.
      return sentAt === undefined || sentAt < startedAt ? [] : at.map((time) => time - sentAt);
    }),
  };
}
