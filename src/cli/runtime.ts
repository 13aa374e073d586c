import { setTimeout as delay } from 'node:timers/promises';
import { createApp, type App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { EmbeddedServices } from '../embedded/services.ts';
import { logDatabases } from '../telemetry/events.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { CommandContext } from './context.ts';
import { describeDatabases, startDatabases } from './databases.ts';
import { embeddedSteps } from './embedded-steps.ts';
import { closeOnSignals } from './shutdown.ts';

/** A running app with everything it stands on. */
export interface Runtime extends AsyncDisposable {
  readonly app: App;
  /** With the addresses of the databases in use, given or embedded. */
  readonly config: Config;
  /** For people: which databases these are. */
  readonly databases: string;
  /** Closes the app, then the databases. */
  close(): Promise<void>;
}

export interface RuntimeOptions {
  readonly config: Config;
  readonly parts: { readonly api: boolean; readonly worker: boolean };
  /** `server`: the log is the voice. `command`: the terminal is, and the log only warns. */
  readonly voice: 'server' | 'command';
  /** If given, a signal aborts it, closes everything and ends the process, from now on. */
  readonly stop?: AbortController;
}

/** How long a signal waits for a start that is under way. What it then leaves open ends with the process. */
const FINISH_START_MS = 3_000;

/** Starts local databases where no address is given, then the app. When that fails, what was started is closed. */
export function openRuntime(context: CommandContext, options: RuntimeOptions): Promise<Runtime> {
  const { level } = options.config.log;
  const logger = createLogger({
    level: options.voice === 'command' && level === 'info' ? 'warn' : level,
    isPretty: context.terminal.isInteractive,
  });
  const opening = open(context, options, logger);
  const { stop } = options;
  if (stop !== undefined) {
    closeOnSignals(logger, async () => {
      stop.abort();
      // Whoever opened it hears why it failed.
      const opened = opening.catch(() => null);
      const runtime = await Promise.race([opened, delay(FINISH_START_MS, null)]);
      await runtime?.close();
    });
  }
  return opening;
}

async function open(context: CommandContext, options: RuntimeOptions, logger: Logger): Promise<Runtime> {
  const { terminal } = context;
  const isServer = options.voice === 'server';
  using steps = embeddedSteps(terminal, isServer && !terminal.isInteractive ? logger : null);
  const databases = await startDatabases(context, options.config, steps);
  try {
    const config = withAddresses(options.config, databases);
    if (isServer) logDatabases(logger, { mongodb: databases.mongodbKind, redis: databases.redisKind });
    const app = await createApp(config, options.parts, { logger, metrics: createMetrics() });
    const close = async (): Promise<void> => {
      try {
        await app.close();
      } finally {
        await databases[Symbol.asyncDispose]();
      }
    };
    return {
      app,
      config,
      databases: describeDatabases(databases, config),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await databases[Symbol.asyncDispose]();
    throw error;
  }
}

function withAddresses(config: Config, databases: EmbeddedServices): Config {
  return Object.freeze({
    ...config,
    mongodb: Object.freeze({ ...config.mongodb, uri: databases.mongodbUri }),
    redis: Object.freeze({ ...config.redis, url: databases.redisUrl }),
  });
}
