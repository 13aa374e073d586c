import type { Config } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/env.ts';
import { MemoryWorkSignal } from '../../src/live/work-signal.ts';
import type { Core } from '../../src/core/core.ts';
import { type LogFields, type Logger, silentLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { DIGEST_TIMES, EVENT_NOTES } from '../../src/app/jobs.ts';
import { endBlockedFollow } from '../../src/features/follow/unfollow.ts';
import { carryOutRulings } from '../../src/features/reports/reports.ts';
import { OwnWorker } from '../../src/fan-out/own-worker.ts';
import { LaneGate } from '../../src/fan-out/lane-gate.ts';
import { type DeclareJob, type Job, JobRunner, type JobSetup } from '../../src/jobs/job.ts';
import { configOf } from './config.ts';
import { uniqueName } from './unique-name.ts';

const LEASE_MS = 30_000;

function fail(fields: LogFields, message: string): never {
  const { err } = fields;
  throw err instanceof Error ? err : new Error(`${message}: ${JSON.stringify(fields)}`);
}

/** Fails the test on what would be logged as a warning or an error. */
export const FAILING: Logger = { ...silentLogger(), warn: fail, error: fail };

/** Calls back with each error that is logged, and with what is logged of work done. */
export function reporting(
  onError: (error: unknown) => void,
  onDone: (fields: LogFields, message: string) => void = () => undefined,
): Logger {
  const report = ({ err }: LogFields): void => {
    onError(err);
  };
  return { ...silentLogger(), debug: onDone, info: onDone, warn: report, error: report };
}

export interface TestJobSetup extends Omit<Partial<JobSetup>, 'core' | 'config'> {
  readonly fanOut?: Partial<Config['fanOut']>;
  readonly feeds?: Partial<Config['feeds']>;
  readonly events?: Partial<Config['events']>;
  /** Settings by name, of parts too. Default: none. */
  readonly env?: Environment;
  /** Default: no round begins on its own for a minute. */
  readonly every?: number;
}

/** What jobs are declared with. */
export function setupOf(core: Core, given: Omit<TestJobSetup, 'every'> = {}): JobSetup {
  const { fanOut, feeds, events, env = {}, ...rest } = given;
  const config = configOf(env);
  return {
    core,
    config: {
      ...config,
      fanOut: { ...config.fanOut, leaseMs: LEASE_MS, ...fanOut },
      feeds: { ...config.feeds, ...feeds },
      events: { ...config.events, ...events },
    },
    ...{ workerId: uniqueName('worker'), gate: new LaneGate(), logger: FAILING },
    metrics: createMetrics({ withProcess: false }),
    countUnread: () => Promise.resolve({ count: 0, isExact: true }),
    topUnread: () => Promise.resolve([]),
    endBlockedFollow: (pair) => endBlockedFollow(core, pair),
    carryOutRulings: (now) => carryOutRulings({ ...core, ownWorker: new OwnWorker() }, now),
    eventNotes: EVENT_NOTES,
    digestTimes: DIGEST_TIMES,
    eventsMoved: new MemoryWorkSignal(),
    ...rest,
  };
}

/** The one job that is declared, which nothing starts. */
export function runnerOf(
  declare: DeclareJob,
  core: Core,
  { every = 60_000, ...given }: TestJobSetup = {},
): JobRunner {
  const setup = setupOf(core, given);
  const [job] = [declare(setup)].flat() as readonly Job[];
  if (job === undefined) throw new Error('No job is declared');
  return new JobRunner({ ...job, every }, setup);
}
