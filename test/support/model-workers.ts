import { setTimeout } from 'node:timers/promises';
import { Closer } from '../../src/lib/closer.ts';
import type { JobRunner } from '../../src/jobs/job.ts';
import { renames } from '../../src/features/directory/jobs/renames.ts';
import type { FanOutWorker, FanOutWorkerOptions } from '../../src/fan-out/fan-out-worker.ts';
import { expiryWorker } from './expire.ts';
import { runnerOf } from './jobs.ts';
import { muteEndsWorker } from './mute-ends.ts';
import type { Run } from './model-run.ts';
import { snoozeWorker } from './snoozes.ts';
import { silentObserver, type Parts } from './parts.ts';

/** Longer than anything waits that is put off: the clock by which workers take work up is ahead by this. */
const AHEAD_MS = 40_000;
const LEASE_MS = 120_000;

/** A worker that need not wait for what is put off, in chunks of two readers. */
function startFanOuts(
  { worker, repositories: { fanOuts } }: Parts,
  options: Partial<FanOutWorkerOptions> = {},
  dependencies: Parameters<Parts['worker']>[1] = {},
): FanOutWorker {
  const started = worker(
    { leaseMs: LEASE_MS, maxAttempts: 1_000, pollMs: 5, ...options },
    {
      ...{ leaseMs: LEASE_MS, chunkSize: 2 },
      fanOuts: {
        ...fanOuts,
        claim: (token, now, ...rest) => fanOuts.claim(token, new Date(now.getTime() + AHEAD_MS), ...rest),
      },
      ...dependencies,
    },
  );
  started.start();
  return started;
}

/** One that need not wait either: it rebuilds feeds also while the change that is the reason is still being made. */
function startRebuilds({ rebuildWorker, repositories: { feedRebuilds } }: Parts): JobRunner {
  const started = rebuildWorker({
    feedRebuilds: {
      ...feedRebuilds,
      claimDue: (now, ...how) => feedRebuilds.claimDue(new Date(now.getTime() + AHEAD_MS), ...how),
    },
  });
  started.start();
  return started;
}

function startRenames({ core }: Parts): JobRunner {
  const started = runnerOf(renames, core, { fanOut: { leaseMs: LEASE_MS, chunkSize: 2 }, every: 20 });
  started.start();
  return started;
}

export function startWorkers(parts: Parts): AsyncDisposable {
  const closer = new Closer();
  closer.own(startFanOuts(parts));
  closer.own(startRebuilds(parts));
  closer.own(startRenames(parts));
  return closer;
}

export async function stopWorkers(run: Run): Promise<void> {
  await run.workers?.[Symbol.asyncDispose]();
  run.workers = null;
}

async function isBusy({ repositories: { actions, feedRebuilds, renames } }: Parts): Promise<boolean> {
  const [open, due, names] = await Promise.all([
    actions.openFanOuts(),
    feedRebuilds.countDue(),
    renames.countDue(),
  ]);
  return (open.PENDING ?? 0) + (open.IN_PROGRESS ?? 0) + due + names > 0;
}

/** Lets all that is open be done, by the workers beside or by some for the purpose. */
export async function finishWork(run: Run): Promise<void> {
  while (await expiryWorker(run.parts).round(new Date()));
  while (await muteEndsWorker(run.parts).round(new Date()));
  while (await snoozeWorker(run.parts).round(new Date()));
  if (!(await isBusy(run.parts))) return;
  await using _workers = run.workers === null ? startWorkers(run.parts) : null;
  do await setTimeout(2);
  while (await isBusy(run.parts));
}

/** Passes that write, and die before they have said so. */
export async function cutOff(run: Run): Promise<void> {
  const { parts } = run;
  const { PENDING: pending = 0 } = await parts.repositories.actions.openFanOuts();
  if (run.workers !== null || pending === 0) return;
  const die = (): never => {
    throw new Error('Cut off');
  };
  await new Promise<void>((resolve, reject) => {
    const worker = startFanOuts(
      parts,
      { concurrency: 1 },
      {
        feedStore: {
          ...parts.feedStore,
          deliver: (chunk) => parts.feedStore.deliver(chunk).then(die),
          remove: (userIds, actionIds) => parts.feedStore.remove(userIds, actionIds).then(die),
        },
        observer: { ...silentObserver, failed: end, finished: end },
      },
    );
    function end(): void {
      worker.stop().then(resolve, reject);
    }
  });
}

/** Ends what still goes on, and lets every fan-out and every rebuild come to its end. */
export async function settle(run: Run): Promise<void> {
  await stopWorkers(run);
  await finishWork(run);
}
