import { createApp, type App } from '../../src/app/app.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Identity, Role } from '../../src/domain/viewer.ts';
import { FEED_MODEL_NAMES } from '../../src/packages/feed-models.ts';
import type { PublishActionInput } from '../../src/services/shapes.ts';
import type { LogFields, Logger, LogMethod } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { Environment } from './environment.ts';
import { fanfareEnv } from './fanfare.ts';

/** A finished fan-out, as the worker logs it. */
export interface Finished {
  readonly delivered: number;
  /** From the claim to DONE. */
  readonly seconds: number;
}

/** The rooms below the API in this process, with a real worker if asked for. */
export interface InProcess extends AsyncDisposable {
  readonly app: App;
  readonly service: Identity;
  identity(userId: string, ...roles: Role[]): Identity;
  /** Publishes as the service; the id of the action. */
  publish(input: PublishActionInput): Promise<string>;
  /** Resolves when the next pass of the action has come to DONE after this call. */
  done(actionId: string): Promise<Finished>;
}

const GIVE_UP_MS = 10 * 60_000;

export async function openInProcess(
  environment: Environment,
  database: string,
  options: { readonly worker: boolean; readonly env?: Readonly<Record<string, string>> },
): Promise<InProcess> {
  const finished = new Map<string, (result: Finished) => void>();
  const early = new Map<string, Finished>();
  const complaints: string[] = [];
  const onLine = (fields: LogFields): void => {
    const { actionId, state, delivered, seconds } = fields;
    if (typeof actionId !== 'string' || state !== 'DONE') return;
    const result = { delivered: Number(delivered), seconds: Number(seconds) };
    const waiting = finished.get(actionId);
    if (waiting === undefined) early.set(actionId, result);
    else waiting(result);
  };
  const onComplaint = ({ err }: LogFields, message: string): void => {
    complaints.push(`${message} ${err instanceof Error ? err.message : ''}`);
  };
  const logger = listeningLogger(onLine, onComplaint);
  const config = readConfig(
    { ...fanfareEnv(environment, database), ...options.env },
    { feedModels: FEED_MODEL_NAMES },
  );
  const app = await createApp(
    config,
    { api: false, worker: options.worker },
    { logger, metrics: createMetrics({ withProcess: false }) },
  );
  const identity = (userId: string, ...roles: Role[]): Identity => ({
    userId,
    roles: new Set(roles.length === 0 ? ['user'] : roles),
    expiresAt: null,
  });
  const service = identity('service', 'service');
  return {
    app,
    service,
    identity,
    publish: async (input) => (await app.services.publishAction(service, input)).action.id,
    done: (actionId) =>
      new Promise((resolve, reject) => {
        const settle = (result: Finished): void => {
          clearTimeout(patience);
          finished.delete(actionId);
          early.delete(actionId);
          resolve(result);
        };
        const patience = setTimeout(() => {
          finished.delete(actionId);
          reject(new Error(`The fan-out of ${actionId} did not end:\n${complaints.slice(-5).join('\n')}`));
        }, GIVE_UP_MS);
        const already = early.get(actionId);
        if (already === undefined) finished.set(actionId, settle);
        else settle(already);
      }),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** Passes on what the worker tells instead of writing it. */
function listeningLogger(onLine: LogMethod, onComplaint: LogMethod): Logger {
  const ignore: LogMethod = () => undefined;
  const logger: Logger = {
    trace: ignore,
    debug: onLine,
    info: onLine,
    warn: onComplaint,
    error: onComplaint,
    fatal: onComplaint,
    child: () => logger,
  };
  return logger;
}
