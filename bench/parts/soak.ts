import type { Child } from '../harness/child.ts';
import type { LoadResult } from '../harness/latencies.ts';
import { openLoop } from '../harness/open-loop.ts';
import { seededRandom } from '../harness/random.ts';
import type { PartReport } from '../harness/report.ts';
import { now } from '../harness/statistics.ts';
import type { ProbeApi } from '../programs/probe.ts';
import { openLoadWorld, type LoadWorld } from '../world/load-world.ts';
import { sized, type Part, type PartContext } from './part.ts';
import { soakReport, type MemorySample } from './soak-report.ts';

const DATABASE = 'bench_soak';
const SEED = 11;
const MOST_OPEN = 2_000;
/** Share of the time that is left out, since the rate has just changed. */
const LEFT_OUT = 0.1;

/** Whether memory grows while the same work goes on and on. */
export const soakPart: Part = { name: 'soak', run };

async function run(context: PartContext): Promise<PartReport> {
  const { environment, options, say, profileDir } = context;
  const rate = sized(options, { full: 20, short: 20, smoke: 10 });
  const minutes = options.soakMinutes ?? sized(options, { full: 10, short: 1, smoke: 0.2 });
  const warmUp = sized(options, {
    full: { rate: 50, minutes: 4 },
    short: { rate: 50, minutes: 0.5 },
    smoke: { rate: 10, minutes: 0.05 },
  });
  const everyMs = sized(options, { full: 5_000, short: 2_000, smoke: 250 });
  const watching = sized(options, { full: 200, short: 100, smoke: 20 });
  await using load = await openLoadWorld({
    environment,
    database: DATABASE,
    sizes: sized(options, {
      full: { members: Infinity, readers: 2_000, actions: 200, active: 2_000, watching },
      short: { members: Infinity, readers: 500, actions: 50, active: 500, watching },
      smoke: { members: 200, readers: 100, actions: 10, active: 100, watching },
    }),
    traceDir: options.traceDir,
    profileDir,
    say,
  });
  say(`warm-up: ${String(warmUp.rate)} operations/s for ${String(warmUp.minutes)} minutes`);
  await work(load, warmUp, seededRandom(SEED));
  say(`${String(rate)} operations/s for ${String(minutes)} minutes`);
  const sampling = startSampling(load, { everyMs, reopened: Math.ceil(watching / 20) });
  const all = await work(load, { rate, minutes }, seededRandom(SEED + 1));
  const samples = await sampling.stop();
  return soakReport({ about: load.about, rate, minutes, watching, warmUp, leftOut: LEFT_OUT, samples, all });
}

async function work(
  { mix: { shares } }: LoadWorld,
  { rate, minutes }: { readonly rate: number; readonly minutes: number },
  random: () => number,
): Promise<LoadResult> {
  const { all, isOverrun, firstFailure } = await openLoop({
    shares,
    rate,
    seconds: minutes * 60,
    maxOpen: MOST_OPEN,
    random,
  });
  if (isOverrun) throw new Error(`The server is too slow for ${String(rate)} operations/s`);
  if (all.failed > 0)
    throw new Error(`${String(all.failed)} operations failed, the first: ${firstFailure ?? ''}`);
  return all;
}

interface Sampling {
  /** All samples; rejects with what went wrong meanwhile. */
  stop(): Promise<readonly MemorySample[]>;
}

/** Looks at the memory of both processes again and again; between two looks some watchers leave and come back. */
function startSampling(
  { api, worker, watchers }: LoadWorld,
  { everyMs, reopened }: { readonly everyMs: number; readonly reopened: number },
): Sampling {
  const start = now();
  const stopping = new AbortController();
  const samples: MemorySample[] = [];
  const look = async (): Promise<void> => {
    const at = (now() - start) / 60_000;
    const of = (child: Child<ProbeApi>) => child.call('memoryAtWork', null);
    const [ofApi, ofWorker] = await Promise.all([of(api), of(worker)]);
    samples.push({ minute: at, api: ofApi, worker: ofWorker });
    await watchers.call('reopen', reopened);
    const { troubles } = await watchers.call('look', null);
    if (troubles.length > 0) throw new Error(`The watchers had trouble:\n${troubles.join('\n')}`);
  };
  const looking = (async () => {
    for (let next = start; !stopping.signal.aborted; next += everyMs) {
      await until(next, stopping.signal);
      await look();
    }
  })();
  // It is awaited by stop(); until then what it rejects with is not unhandled.
  looking.catch(() => undefined);
  return {
    stop: async () => {
      stopping.abort();
      await looking;
      return samples;
    },
  };
}

/** Resolves at that time of the clock, or when it is aborted. */
function until(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const timer = setTimeout(settle, time - now());
    signal.addEventListener('abort', settle);
  });
}
