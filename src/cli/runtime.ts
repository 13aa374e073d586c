import { setTimeout as delay } from 'node:timers/promises';
import type {
  App,
  CommandContext,
  CommandParts,
  DemoMember,
  Processes,
  Running,
} from '../app/command-shapes.ts';
import type { Config, LogLevel } from '../config/config.ts';
import { ROLES } from '../domain/viewer.ts';
import { Closer } from '../lib/closer.ts';
import { logHeartbeatFailed } from '../telemetry/events.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { DEMO_TENANT, DEMO_USER, announceServer } from './context.ts';
import { describeDatabases, type Databases } from '../connections/databases.ts';
import type { FanfareOptions } from '../app/fanfare-shapes.ts';
import type { DemoPerson } from '../http/http-context.ts';
import { embeddedSteps } from './embedded-steps.ts';
import { fanfareOf, startTraced } from './fanfare-of.ts';
import { endOnSignals, closeOnSignals } from './shutdown.ts';
import { signToken } from './token.ts';
import { startHeartbeat } from './worker-health.ts';

/** Contributions of parts to the commands `serve` and `worker`. */
export interface ServerParts {
  /** `--processes`: the same command in several processes. Loaded when one of the commands runs. */
  readonly processes: (() => Promise<Processes>) | undefined;
  /** People whom the console's page of the demo can act as. */
  readonly people: readonly DemoMember[];
}

export interface Runtime extends Running, AsyncDisposable {
  readonly app: App;
  /** Closes the app, then the databases. */
  close(): Promise<void>;
}

export interface RuntimeOptions {
  readonly config: Config;
  readonly parts: CommandParts;
  /** `server`: messages go to the log. `command`: messages go to the terminal, and only warnings are logged. */
  readonly voice: 'server' | 'command';
  /** If given, a signal from now on aborts it, closes everything and ends the process with 0. */
  readonly stop?: AbortController;
  /** If given, a signal from now on prints this, closes everything and ends the process. */
  readonly farewell?: () => string;
  /** For `farewell`; default: the shell's exit code for the signal. */
  readonly exitCode?: number;
  /** Records in DATA_DIR that it works, for `worker --health`. */
  readonly hasHeartbeat?: boolean;
  /** Called after that, once everything is closed. */
  readonly onInterrupted?: () => Promise<void>;
}

const DEMO_TOKEN_MS = 7 * 86_400_000;
/** How long a signal waits for a start in progress. What is still open then ends with the process. */
const FINISH_START_MS = 3_000;

export function openRuntime(context: CommandContext, options: RuntimeOptions): Promise<Runtime> {
  const { level } = options.config.log;
  const logger = loggerOf(context, options.voice === 'command' && level === 'info' ? 'warn' : level);
  const opening = open(context, options, logger);
  const { stop, farewell, exitCode, onInterrupted } = options;
  const close = async (): Promise<void> => {
    stop?.abort();
    // The caller receives the error.
    const opened = opening.catch(() => null);
    const runtime = await Promise.race([opened, delay(FINISH_START_MS, null)]);
    try {
      await runtime?.close();
    } finally {
      await onInterrupted?.();
    }
  };
  if (farewell !== undefined)
    endOnSignals(context.terminal, { farewell, close, ...(exitCode === undefined ? {} : { exitCode }) });
  else if (stop !== undefined) closeOnSignals(logger, close);
  return opening;
}

/** A log that goes where the command's messages go. */
export function loggerOf({ terminal }: CommandContext, level: LogLevel): Logger {
  return createLogger({
    level,
    isPretty: terminal.isInteractive,
    // There may be a progress bar on the line, and the log may be on a full disk.
    sink: {
      write: (line) => terminal.note(line.trimEnd()),
    },
  });
}

async function open(context: CommandContext, options: RuntimeOptions, logger: Logger): Promise<Runtime> {
  const { terminal } = context;
  const isServer = options.voice === 'server';
  const { config: given } = options;
  const { people, ...parts } = options.parts;
  using steps = embeddedSteps(terminal, isServer && !terminal.isInteractive ? logger : null, options.stop);
  const closer = new Closer();
  try {
    const demoToken = parts.api ? await demoTokenOf(given) : null;
    const fanfare = await fanfareOf(context, given, {
      ...{ ...parts, logger, metrics: isServer, pages: pagesOf(given, demoToken, people) },
      onStep: (step) => {
        if (step.step !== 'collections') steps.onEvent(step);
        else if (terminal.isInteractive) steps.note(step.message);
      },
    });
    await startTraced(fanfare, parts, closer);
    const { app, config, databases } = fanfare.server();
    const record = await announceLocal(databases, config, { url: fanfare.url, token: demoToken });
    if (record !== null) closer.own(record);
    if (options.hasHeartbeat === true) closer.own(await beat(config, () => app.database.ping(), logger));
    const close = (): Promise<void> => closer.close();
    return {
      ...{ app, config, demoToken, close },
      databases: describeDatabases(databases, config),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

/** Values that the API's pages show to the user who runs the command. */
export function pagesOf(
  config: Config,
  token: string | null,
  people: readonly DemoMember[] = [],
): NonNullable<FanfareOptions['pages']> {
  return { token: token ?? undefined, people: demoPeopleOf(config, people) };
}

/** Lets commands on the same DATA_DIR find the API, if there is one and its databases are local. */
export async function announceLocal(
  { mongodbKind, redisKind }: Databases,
  { dataDir }: Config,
  { url, token }: { readonly url: string | null; readonly token: string | null },
): Promise<AsyncDisposable | null> {
  const isLocal = mongodbKind !== 'given' || redisKind !== 'given';
  return isLocal && url !== null ? announceServer(dataDir, { url, token }) : null;
}

export function beat(
  { dataDir }: Config,
  ping: () => Promise<unknown>,
  logger: Logger,
): Promise<AsyncDisposable> {
  return startHeartbeat(dataDir, ping, (err) => logHeartbeatFailed(logger, { err }));
}

/** Not in production, where no token should be on the disk. */
export async function demoTokenOf({ auth, isProduction }: Config): Promise<string | null> {
  if (auth.jwtSecret === undefined || isProduction) return null;
  const expiresAt = new Date(Date.now() + DEMO_TOKEN_MS);
  return signToken(auth, { sub: DEMO_USER, roles: ROLES, tenant: DEMO_TENANT, expiresAt });
}

/** People the demo page can act as and show the feeds of; undefined when no demo token is given either. */
function demoPeopleOf(
  { auth, isProduction }: Config,
  people: readonly DemoMember[],
): (() => Promise<readonly DemoPerson[]>) | undefined {
  if (auth.jwtSecret === undefined || isProduction) return undefined;
  return () =>
    Promise.all(
      people.map(async ({ memberId, name }) => {
        const expiresAt = new Date(Date.now() + DEMO_TOKEN_MS);
        return {
          memberId,
          name,
          token: await signToken(auth, { sub: memberId, roles: ['user'], tenant: DEMO_TENANT, expiresAt }),
        };
      }),
    );
}
