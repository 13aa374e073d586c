import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { allEnded } from '../lib/closer.ts';
import { MemoryWorkSignal } from '../live/work-signal.ts';
import type { Core } from '../core/core.ts';
import { countUnread, findTopUnread } from '../feed/page/unread.ts';
import type { UserId } from '../domain/action.ts';
import { openSession } from '../feed/session/open-session.ts';
import type { ReaderSession } from '../feed/session/reader-session.ts';
import {
  logBatchFailed,
  logFanOutAttemptFailed,
  logFanOutFinished,
  logFanOutGivenUp,
  logFanOutOvertaken,
  logLeaseLost,
  logWorkerStarted,
  logWorkerStopped,
  logWorkerTrouble,
} from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createStackOnce } from '../telemetry/stack-once.ts';
import { dormancy } from '../fan-out/audience.ts';
import { type FanOutObserver, FanOutWorker } from '../fan-out/fan-out-worker.ts';
import { OwnWorker } from '../fan-out/own-worker.ts';
import { LaneGate } from '../fan-out/lane-gate.ts';
import {
  type DeclareJob,
  type DigestTime,
  DueLooks,
  JobRunner,
  type JobSetup,
  type NoteEvents,
  wantedBy,
} from '../jobs/job.ts';
import { dueAmong } from '../storage/due/due-work.ts';
import { endBlockedFollow } from '../features/follow/unfollow.ts';
import { carryOutRulings } from '../features/reports/reports.ts';
import { FEATURES } from './features.ts';

/** Everything a worker process does in the background, beside fan-outs. */
export const JOBS: readonly DeclareJob[] = FEATURES.flatMap(({ jobs = [] }) => jobs);
export const EVENT_NOTES: readonly NoteEvents[] = FEATURES.flatMap(({ eventNotes = [] }) => eventNotes);
export const DIGEST_TIMES: readonly DigestTime[] = FEATURES.flatMap(({ digestTimes = [] }) => digestTimes);

/** Starts all background workers of a process. Disposing releases unfinished work. */
export function startWorkers(config: Config, core: Core, logger: Logger, metrics: Metrics): AsyncDisposable {
  const workerId = randomUUID();
  const sessionOf = (userId: UserId): ReaderSession =>
    openSession(core, { userId, roles: new Set(['user']), expiresAt: null });
  const setup: JobSetup = {
    ...{ config, core, workerId, gate: new LaneGate(), logger, metrics },
    countUnread: (userId) => countUnread(core, sessionOf(userId)),
    topUnread: (userId, most) => findTopUnread(core, sessionOf(userId), most),
    endBlockedFollow: (pair) => endBlockedFollow(core, pair),
    // Any worker may run the passes that it requests.
    carryOutRulings: (now) => carryOutRulings({ ...core, ownWorker: new OwnWorker() }, now),
    eventNotes: EVENT_NOTES,
    digestTimes: DIGEST_TIMES,
    // Within this process; events moved by other processes are found by polling.
    eventsMoved: new MemoryWorkSignal(),
  };
  const jobs = JOBS.flatMap((declare) => declare(setup));
  const wanted = wantedBy(jobs);
  const dueLooks = new DueLooks((now) => dueAmong(core.collections, wanted, now));
  const isDue = (job: string): Promise<boolean> => dueLooks.isDue(job);
  const workers = [fanOut(setup, core), ...jobs.map((job) => new JobRunner(job, { logger, isDue }))];
  for (const one of workers) one.start();
  logWorkerStarted(logger, {
    worker: workerId,
    concurrency: config.fanOut.concurrency,
    model: core.feedStore.model,
  });
  return {
    async [Symbol.asyncDispose]() {
      // Stop all of them concurrently and wait for each, even if another one fails.
      try {
        await allEnded(
          workers.map((one) => one.stop()),
          'Several workers could not be stopped cleanly',
        );
      } finally {
        logWorkerStopped(logger, { worker: workerId });
      }
    },
  };
}

/** With a search each second, what a worker had claimed that died goes on within five seconds, also if these take their time. */
const FIRST_LEASE_MS = 3_000;

function fanOut(setup: JobSetup, core: Core): FanOutWorker {
  const { workerId, gate, logger, metrics } = setup;
  const { feeds, fanOut } = setup.config;
  const { chunkSize, leaseMs, maxAttempts, concurrency, pollMs } = fanOut;
  return new FanOutWorker(core, {
    ...{ workerId, chunkSize, maxAttempts, concurrency, pollMs, gate },
    leaseMs: Math.min(leaseMs, FIRST_LEASE_MS),
    longestLeaseMs: leaseMs,
    skipDormant: dormancy(core, feeds),
    observer: fanOutObserver(logger, metrics),
  });
}

function fanOutObserver(logger: Logger, metrics: Metrics): FanOutObserver {
  const failure = createStackOnce();
  return {
    finished(claim, { delivered, seconds, isDone, lagSeconds }) {
      const state = isDone ? 'DONE' : 'PENDING';
      metrics.fanOutFinished({ state, delivered, seconds });
      if (lagSeconds !== null) metrics.actionDelivered({ lane: claim.lane, lagSeconds });
      logFanOutFinished(logger, {
        actionId: claim.action.id,
        state,
        lane: claim.lane,
        version: claim.version,
        delivered,
        seconds,
      });
    },
    overtaken(claim) {
      logFanOutOvertaken(logger, { actionId: claim.action.id, version: claim.version });
    },
    leaseLost(claim) {
      metrics.leaseLost();
      logLeaseLost(logger, { actionId: claim.action.id, worker: claim.token });
    },
    failed(claim, err, isFinal) {
      metrics.fanOutAttemptFailed();
      const { action, attempts } = claim;
      if (isFinal) logFanOutGivenUp(logger, { actionId: action.id, attempts, ...failure(err) });
      else logFanOutAttemptFailed(logger, { actionId: action.id, attempt: attempts, ...failure(err) });
    },
    batchFailed(err) {
      logBatchFailed(logger, { err });
    },
    claimFailed(err) {
      logWorkerTrouble(logger, { err });
    },
  };
}
