import inspector from 'node:inspector';
import type { Config } from '../../config/config.ts';
import { startMetricsServer } from '../../http/pages/metrics-server.ts';
import { Closer } from '../../lib/closer.ts';
import { logDatabases } from '../../telemetry/events/databases.ts';
import { createGroupMetrics } from '../../telemetry/group-metrics.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { CommandContext } from '../context.ts';
import { checkBeforeStart } from '../../app/before-start.ts';
import { describeDatabases, startDatabases, withAddresses } from '../../app/databases.ts';
import { embeddedSteps } from '../embedded-steps.ts';
import type { CommandParts } from '../fanfare-of.ts';
import { announceLocal, beat, demoTokenOf, loggerOf, type Running } from '../runtime.ts';
import { closeOnSignals } from '../shutdown.ts';
import { CLOSE_WITHIN_MS } from '../signals.ts';
import { ProcessGroup } from './group.ts';

export interface GroupRunOptions {
  readonly config: Config;
  readonly parts: CommandParts;
  readonly count: number;
  /** Aborted by a signal. */
  readonly stop: AbortController;
  /** Records in DATA_DIR that they work, for `worker --health`. */
  readonly hasHeartbeat?: boolean;
}

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
  { config: given, parts, count, hasHeartbeat }: GroupRunOptions,
  logger: Logger,
  closer: Closer,
): Promise<Running> {
  const { terminal } = context;
  using steps = embeddedSteps(terminal, terminal.isInteractive ? null : logger);
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

function watchedBy({ processes: { answerWithinMs, startAnswerWithinMs } }: Config): {
  readonly answersWithinMs: number | null;
  readonly startAnswersWithinMs: number | null;
} {
  return isBeingDebugged()
    ? { answersWithinMs: null, startAnswersWithinMs: null }
    : { answersWithinMs: answerWithinMs, startAnswersWithinMs: startAnswerWithinMs };
}

/** A process at a breakpoint gives no sign of life. The processes of a group are debugged if this one is. */
function isBeingDebugged(): boolean {
  return inspector.url() !== undefined;
}

async function allReady(group: ProcessGroup): Promise<void> {
  const { isReady } = await group.readiness();
  if (!isReady) throw new Error('Not all processes are ready');
}

/** What this process has determined, so that the others need not. */
function environmentOf({ mongodb, redis, auth }: Config): Record<string, string> {
  const found = { MONGODB_URI: mongodb.uri, REDIS_URL: redis.url, JWT_SECRET: auth.jwtSecret };
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
