import type { CommandContext, GroupRunOptions, Running } from '../../../src/app/command-shapes.ts';
import cluster, { type Worker } from 'node:cluster';
import type { Readiness } from '../../../src/http/pages/health.ts';
import { logDatabases } from '../../../src/telemetry/events.ts';
import { logProcessEnded, logProcessHangs, logProcessStarted } from './log.ts';

import type { Logger } from '../../../src/telemetry/logger.ts';
import { createGroupMetrics, type GroupMetrics } from './metrics.ts';
import type { MetricsSnapshot } from '../../../src/telemetry/metrics.ts';
import { CommandError } from '../../../src/cli/context.ts';
import { CLOSE_WITHIN_MS, closeOnSignals } from '../../../src/cli/shutdown.ts';
import { openLine, type MessageLine } from './line.ts';
import inspector from 'node:inspector';
import type { Config } from '../../../src/config/config.ts';
import { PROCESSES } from './settings.ts';
import { Closer } from '../../../src/lib/closer.ts';
import {
  checkBeforeStart,
  describeDatabases,
  startDatabases,
  withAddresses,
} from '../../../src/connections/databases.ts';
import { embeddedSteps } from '../../../src/cli/embedded-steps.ts';
import { announceLocal, beat, demoTokenOf, loggerOf } from '../../../src/cli/runtime.ts';

/** Time limit for closing the processes, and the databases after them. */
const CLOSE_GROUP_WITHIN_MS = CLOSE_WITHIN_MS + 5_000;

/**
 * Runs the calling command in several processes until a signal arrives. This process runs the local databases, if any, and
 * METRICS_PORT; it serves no API and does no work.
 */
export async function runGroup(context: CommandContext, options: GroupRunOptions): Promise<Running> {
  const logger = loggerOf(context, options.config.log.level);
  const closer = new Closer();
  closeOnSignals(
    logger,
    () => {
      options.stop.abort();
      return closer.close();
    },
    { withinMs: CLOSE_GROUP_WITHIN_MS },
  );
  try {
    return await open(context, options, logger, closer);
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function open(
  context: CommandContext,
  { config: given, parts, count, stop, hasHeartbeat }: GroupRunOptions,
  logger: Logger,
  closer: Closer,
): Promise<Running> {
  const { terminal } = context;
  using steps = embeddedSteps(terminal, terminal.isInteractive ? null : logger, stop);
  await checkBeforeStart(context.env, given, { api: parts.api, metrics: true }, logger);
  const databases = closer.own(await startDatabases(context, given, steps));
  const config = withAddresses(given, databases);
  const { mongodbKind: mongodb, redisKind: redis } = databases;
  logDatabases(logger, { mongodb, redis });
  steps.note(`Starting ${String(count)} processes`);
  const metrics = createGroupMetrics();
  const group = closer.own(
    new ProcessGroup({
      ...{ count, logger, metrics, env: environmentOf(config) },
      ...watchedBy(config),
    }),
  );
  const url = await group.start();
  const demoToken = parts.api ? await demoTokenOf(config) : null;
  const record = await announceLocal(databases, config, { url, token: demoToken });
  if (record !== null) closer.own(record);
  const { port, token } = config.metrics;
  if (port !== undefined) {
    const { startMetricsServer } = await import('../../../src/http/pages/metrics-server.ts');
    const page = { contentType: metrics.contentType, metrics: () => group.metrics() };
    closer.own(
      await startMetricsServer({
        ...{ host: config.http.host, port, token, metrics: page, logger },
        readiness: () => group.readiness(),
      }),
    );
  }
  if (hasHeartbeat === true) closer.own(await beat(config, () => allReady(group), logger));
  return { app: { url }, config, databases: describeDatabases(databases, config), demoToken };
}

function watchedBy(config: Config): {
  readonly answersWithinMs: number | null;
  readonly startAnswersWithinMs: number | null;
} {
  return isBeingDebugged() ? { answersWithinMs: null, startAnswersWithinMs: null } : config.of(PROCESSES);
}

/** A process at a breakpoint gives no sign of life. The processes of a group are debugged if this one is. */
function isBeingDebugged(): boolean {
  return inspector.url() !== undefined;
}

async function allReady(group: ProcessGroup): Promise<void> {
  const { isReady } = await group.readiness();
  if (!isReady) throw new Error('Not all processes are ready');
}

/** Values that this process has determined, so that the others need not. */
function environmentOf({ mongodb, redis, auth }: Config): Record<string, string> {
  const found = { MONGODB_URI: mongodb.uri, REDIS_URL: redis.url, JWT_SECRET: auth.jwtSecret };
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Consecutive unanswered questions after which a process counts as hanging. */
const TIMES = 3;

/**
 * Asks a process for signs of life until it has given none for this long, or up to a third longer. Counts questions instead
 * of time: after the machine itself was suspended, at most one question is unanswered.
 * @param onSilence called once.
 */
function watchLife(
  ask: (withinMs: number) => Promise<unknown>,
  withinMs: number,
  onSilence: () => void,
): Disposable {
  const eachMs = withinMs / TIMES;
  let missed = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    let hasAnswered = false;
    ask(eachMs).then(
      () => {
        hasAnswered = true;
      },
      // Counts as silence.
      () => undefined,
    );
    timer = setTimeout(() => {
      missed = hasAnswered ? 0 : missed + 1;
      if (missed < TIMES) look();
      else onSilence();
    }, eachMs);
  };
  look();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}

const SHORTEST_MS = 250;
const LONGEST_MS = 30_000;
/** After this uptime, an end is unrelated to the previous one. */
const STEADY_MS = 60_000;

/**
 * Delay in milliseconds before a process is restarted: doubles with each consecutive end, up to half a minute.
 * @param failures consecutive ends before this one.
 */
export function restartDelay(
  failures: number,
  ranForMs: number,
): { readonly again: number; readonly failures: number } {
  const before = ranForMs >= STEADY_MS ? 0 : failures;
  return { again: Math.min(LONGEST_MS, SHORTEST_MS * 2 ** before), failures: before + 1 };
}

/** Questions the first process asks the processes of its group. */
export interface OfMember {
  readonly readiness: Readiness;
  readonly snapshot: MetricsSnapshot;
  /** The event loop is running. */
  readonly alive: true;
}

export interface OfGroup {
  readonly readiness: Readiness;
  readonly metrics: string;
}

/** Sent once, when it has started, with its address. */
export interface Started {
  readonly startedAt: string | null;
}

/** Number of a process within the group: 1, 2, 3 … */
export const MEMBER_VARIABLE = 'FANFARE_PROCESS';

/** Longer than the probes of a process may take. */
const MEMBER_ANSWERS_WITHIN_MS = 3_000;
/** A member may hang, but the group must still answer. */
export const GROUP_ANSWERS_WITHIN_MS = MEMBER_ANSWERS_WITHIN_MS + 2_000;

export interface GroupOptions {
  readonly count: number;
  /** Environment variables of the processes, in addition to those of this one. */
  readonly env: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly metrics: GroupMetrics;
  /** A process without a sign of life for this long is killed; `null`: never. */
  readonly answersWithinMs: number | null;
  /** The same while starting: it loads its code first, and cannot answer meanwhile. */
  readonly startAnswersWithinMs: number | null;
}

interface Member {
  readonly number: number;
  worker: Worker | null;
  line: MessageLine<OfMember> | null;
  /** From its start to its end. */
  watch: Disposable | null;
  hasStarted: boolean;
  /** The group has killed it. */
  isSilent: boolean;
  /** On the `performance.now()` clock. */
  forkedAt: number;
  /** Consecutive ends soon after the start. */
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Several processes that run the same command, listen on the same ports and end together. One that ends unexpectedly is
 * restarted. If this process is killed, they end, too.
 */
export class ProcessGroup implements AsyncDisposable {
  readonly #options: GroupOptions;
  readonly #members: readonly Member[];
  readonly #opening: Promise<string | null>;
  #opened: (url: string | null) => void = () => undefined;
  #failed: ((error: Error) => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#members = Array.from({ length: options.count }, (_, index) => ({
      ...{ number: index + 1, worker: null, line: null, watch: null, timer: undefined },
      ...{ hasStarted: false, isSilent: false, forkedAt: 0, failures: 0 },
    }));
    this.#opening = new Promise((resolve, reject) => {
      this.#opened = resolve;
      this.#failed = reject;
    });
  }

  /** Resolves with the URL, if any, once all have started. @throws CommandError when one ends instead. */
  start(): Promise<string | null> {
    // JSON would turn an unknown figure into zero.
    cluster.setupPrimary({ serialization: 'advanced' });
    for (const member of this.#members) this.#fork(member);
    return this.#opening;
  }

  /** Ready if all of them are. */
  async readiness(): Promise<Readiness> {
    const answers = await Promise.all(
      this.#members.map(async ({ line, hasStarted }) =>
        line === null || !hasStarted ? null : line.ask('readiness').catch(() => null),
      ),
    );
    const checks: Record<string, 'ok' | 'failed'> = { processes: answers.includes(null) ? 'failed' : 'ok' };
    for (const answer of answers)
      for (const [name, state] of Object.entries(answer?.checks ?? {}))
        if (checks[name] !== 'failed') checks[name] = state;
    return { isReady: Object.values(checks).every((state) => state === 'ok'), checks };
  }

  /** Prometheus page of all of them, without those that do not answer. */
  async metrics(): Promise<string> {
    const lines = this.#members.flatMap(({ line }) => (line === null ? [] : [line]));
    const asked = await Promise.allSettled(lines.map((line) => line.ask('snapshot')));
    return this.#options.metrics.page(
      asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])),
    );
  }

  /** Idempotent; resolves when all have ended. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #fork(member: Member): void {
    const worker = cluster.fork({ ...this.#options.env, [MEMBER_VARIABLE]: String(member.number) });
    member.worker = worker;
    Object.assign(member, { hasStarted: false, isSilent: false });
    member.forkedAt = performance.now();
    const answers = { readiness: () => this.readiness(), metrics: () => this.metrics() };
    member.line = openLine<OfGroup, OfMember>(worker, answers, MEMBER_ANSWERS_WITHIN_MS);
    this.#options.metrics.processStarted();
    logProcessStarted(this.#options.logger, { process: member.number, pid: worker.process.pid ?? 0 });
    this.#watch(member, worker);
    worker.on('message', (message: Partial<Started>) => {
      if (message.startedAt === undefined) return;
      member.hasStarted = true;
      this.#watch(member, worker);
      if (!this.#members.every(({ hasStarted }) => hasStarted)) return;
      this.#failed = null;
      this.#opened(message.startedAt);
    });
    // The channel of a dying process may fail before its end is noticed.
    worker.on('error', () => undefined);
    worker.once('exit', (code: number | null, signal: string | null) => {
      this.#ended(member, worker.process.pid ?? 0, code, signal);
    });
  }

  /**
   * A hanging process would keep receiving connections, so it must be replaced. One that hangs while starting would keep the
   * group from being ready. Waiting for a database counts as a sign of life.
   */
  #watch(member: Member, { process: { pid = 0 } }: Worker): void {
    const { line, number, hasStarted } = member;
    const { answersWithinMs, startAnswersWithinMs, logger } = this.#options;
    const silentForMs = hasStarted ? answersWithinMs : startAnswersWithinMs;
    member.watch?.[Symbol.dispose]();
    member.watch = null;
    if (line === null || silentForMs === null || this.#closing !== null) return;
    member.watch = watchLife(
      (withinMs) => line.ask('alive', withinMs),
      silentForMs,
      () => {
        logProcessHangs(logger, { process: number, pid, hasStarted, silentForMs });
        member.isSilent = true;
        // It could not react to another signal.
        member.worker?.process.kill('SIGKILL');
      },
    );
  }

  #ended(member: Member, pid: number, code: number | null, signal: string | null): void {
    const { hasStarted, isSilent } = member;
    // Time spent hanging at the start does not count as uptime.
    const ranForMs = hasStarted ? performance.now() - member.forkedAt : 0;
    member.watch?.[Symbol.dispose]();
    Object.assign(member, { worker: null, line: null, watch: null, hasStarted: false });
    this.#options.metrics.processEnded();
    if (this.#closing !== null) return;
    if (this.#failed !== null && !isSilent) {
      this.#failed(new CommandError(`Process ${String(member.number)} could not start`));
      return;
    }
    const { again, failures } = restartDelay(member.failures, ranForMs);
    member.failures = failures;
    logProcessEnded(this.#options.logger, { process: member.number, pid, code, signal, againInMs: again });
    member.timer = setTimeout(() => {
      if (this.#closing === null) this.#fork(member);
    }, again);
  }

  async #closeAll(): Promise<void> {
    await Promise.all(
      this.#members.map(async ({ worker, timer, watch }) => {
        clearTimeout(timer);
        watch?.[Symbol.dispose]();
        if (worker === null) return;
        const ended = new Promise((resolve) => worker.once('exit', resolve));
        worker.process.kill('SIGTERM');
        // It gives up earlier if it is able to do anything.
        const overdue = setTimeout(() => worker.process.kill('SIGKILL'), CLOSE_WITHIN_MS + 1_000);
        await ended;
        clearTimeout(overdue);
      }),
    );
  }
}
