import { EventEmitter, once } from 'node:events';
import { createApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Identity, Role } from '../../src/domain/viewer.ts';
import { BROUGHT } from '../../src/app/brought.ts';
import type { PublishActionInput } from '../../src/core/shapes.ts';
import type { Logger, LogMethod } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { Environment } from './environment.ts';
import { fanfareEnv } from './fanfare.ts';
import { now } from './statistics.ts';
import { publishAction } from '../../src/features/publish/publish-action.ts';

/** A finished fan-out, as the worker logs it. */
interface Finished {
  readonly delivered: number;
  /** From the claim to DONE. */
  readonly seconds: number;
}

export type InProcess = Awaited<ReturnType<typeof openInProcess>>;

const ENDED = 'ended';
const GIVE_UP_MS = 10 * 60_000;

/** The rooms below the API in this process, with a real worker if asked for. */
export async function openInProcess(
  environment: Environment,
  database: string,
  options: { readonly worker: boolean },
) {
  const passes = new EventEmitter();
  /** Of actions that nobody waits for yet. */
  const early = new Map<string, Finished>();
  /** When each pass ended. */
  const ends: number[] = [];
  let begunAt = NaN;
  const onLine: LogMethod = ({ actionId, state, delivered, seconds }) => {
    if (typeof actionId !== 'string' || state !== 'DONE') return;
    if (ends.push(now()) === 1) begunAt = now() - Number(seconds) * 1_000;
    passes.emit(ENDED);
    const result: Finished = { delivered: Number(delivered), seconds: Number(seconds) };
    if (!passes.emit(actionId, result)) early.set(actionId, result);
  };
  const complain: LogMethod = ({ err }, message) => {
    console.error(message, err);
  };
  const ignore: LogMethod = () => undefined;
  const logger: Logger = {
    ...{ trace: ignore, debug: onLine, info: onLine, warn: complain, error: complain, fatal: complain },
    child: () => logger,
  };
  const app = await createApp(
    readConfig(fanfareEnv(environment, database), BROUGHT),
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
    ...{ app, service, identity },
    /** Publishes as the service; the id of the action. */
    publish: async (input: PublishActionInput) => (await publishAction(app.core, service, input)).action.id,
    /** Resolves when the next pass of the action has come to DONE after this call. */
    done: async (actionId: string) => {
      const already = early.get(actionId);
      early.delete(actionId);
      if (already !== undefined) return already;
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      const [result] = (await once(passes, actionId, { signal })) as [Finished];
      return result;
    },
    /** Passes a second: from the claim of the first until so many have come to DONE. */
    rate: async (count: number) => {
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      while (ends.length < count) await once(passes, ENDED, { signal });
      return count / (((ends[count - 1] ?? NaN) - begunAt) / 1_000);
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}
