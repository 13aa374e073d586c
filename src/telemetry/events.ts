import type { LogFields, Logger } from './logger.ts';
import type { Failure } from './stack-once.ts';

type LogEvent<Fields> = (log: Logger, fields: Fields) => void;

/** A log event has one level, one wording and always the same fields. */
export function event<Fields extends LogFields>(
  level: Exclude<keyof Logger, 'child'>,
  message: string,
): LogEvent<Fields> {
  return (log, fields) => log[level](fields, message);
}

/** The setting HOOK_FAILURE says what happened. */
export const logHookFailed = event<{ hook: string; err: unknown }>(
  'warn',
  'A hook of the host did not answer',
);
/** Its view is read as if it had none. Once a minute for each view. */
export const logSourceFailed = event<{ view: string; err: unknown }>(
  'warn',
  'The source of a view did not answer',
);
export const logListening = event<{ url: string }>('info', 'Listening');
export const logDoubtfulSetting = event<{ setting: string; because: string }>(
  'warn',
  'A setting may not have the expected effect',
);
export const logClosing = event<{ reason: string }>('info', 'Closing');
export const logClosed = event<{ seconds: number }>('info', 'Closed');
export const logCrash = event<{ err: unknown }>('fatal', 'Unexpected error');
export const logHeartbeatFailed = event<{ err: unknown }>(
  'warn',
  'The heartbeat of the worker cannot be written: worker --health will fail',
);
export const logPresenceTrouble = event<{ err: unknown }>(
  'warn',
  'Cannot record in the database that this process is running',
);

/** @param fields.seconds lead of the machine's clock. */
export const logClockSkewed = event<{ seconds: number }>(
  'warn',
  "The machine's clock differs from the database's, which Fanfare uses",
);
export const logClockRight = event<{ seconds: number }>(
  'info',
  "The machine's clock agrees with the database's again",
);

/** An internal error: the client received a masked error with this id. */
export const logRequestFailed = event<{ errorId: string; err: unknown }>('error', 'Request failed');

/** Follow-up of an outage whose first failure was logged in full. */
export const logRequestUnavailable = event<{ errorId: string; reason: string }>(
  'warn',
  'Request failed, the outage continues',
);
export const logRequest = event<{ operation: string | null; code: string; seconds: number }>(
  'debug',
  'Request',
);
export const logOriginRefused = event<{ origin: string }>(
  'warn',
  'A page of this origin cannot call the API: it is not in CORS_ORIGINS',
);
export const logTokenRefused = event<{ reason: string }>('debug', 'Token refused');

/** Cached keys stay in use. */
export const logKeysNotFetched = event<{ err: unknown }>(
  'warn',
  'The keys behind JWKS_URI cannot be fetched',
);
export const logKeysBroken = event<{ keyIds: readonly string[] }>(
  'warn',
  'Some keys behind JWKS_URI cannot be used',
);

/** The server did not wait for a client any longer. */
export const logConnectionEnded = event<{ reason: string }>('debug', 'Connection ended');

/** The peer violated the protocol or broke the connection. */
export const logSocketTrouble = event<{ err: unknown }>('debug', 'Socket closed for an error');
export const logDatabases = event<{ mongodb: string; redis: string }>('info', 'Databases');

/** Progress of preparing a local database, and its unexpected end. */
export function logEmbeddedStep(
  log: Logger,
  event: { readonly step: string; readonly message: string; readonly fraction?: number },
): void {
  const { message, ...fields } = event;
  if (event.step === 'exit' || event.step === 'lost') log.error(fields, message);
  else log.info(fields, message);
}

/** Logs the number only: a first start creates too many indexes to list. */
export function logIndexesCreated(log: Logger, { indexes }: { readonly indexes: readonly string[] }): void {
  log.info({ count: indexes.length }, 'Indexes created');
  log.debug({ indexes }, 'Names of the indexes created');
}

export const logMigrationStarted = event<{ version: number; name: string }>('info', 'Migration started');
export const logMigrationWaits = event<{ version: number; name: string; olderProcesses: number }>(
  'warn',
  'Migration waits for processes of an older release to end',
);
export const logMigrationFinished = event<{ version: number; name: string; documents: number }>(
  'info',
  'Migration finished',
);
export const logRedisLost = event<{ err: unknown }>('warn', 'Redis cannot be reached');

export function logRedisBack(log: Logger): void {
  log.info({}, 'Redis is available again');
}

/** Watchers may have missed events; they are asked to resync. */
export const logLiveLogTrouble = event<{ what?: string; err: unknown }>('warn', 'The live log failed');

/** At debug level for the same reason as below. */
export const logSampleFailed = event<{ err: unknown }>(
  'debug',
  'What happened in the last seconds is missing from the past hour',
);

/** Once per read, at debug level: `logRedisLost` reports the outage itself once. */
export const logFeedReadWithoutStore = event<{ err: unknown }>(
  'debug',
  'Feed served from the actions, the feed store cannot be reached',
);
export const logWorkerStarted = event<{ worker: string; concurrency: number; model: string }>(
  'info',
  'Fan-out worker started',
);
export const logWorkerStopped = event<{ worker: string }>('info', 'Fan-out worker stopped');
export const logWorkerTrouble = event<{ err: unknown }>(
  'error',
  'The worker cannot look for work, it keeps trying',
);
export const logJobFailed = event<{ job: string; err: unknown }>(
  'error',
  'A background job failed, it will be retried',
);
export const logFanOutFinished = event<{
  actionId: string;
  state: string;
  lane: string;
  version: number;
  delivered: number;
  seconds: number;
}>('debug', 'Fan-out pass finished');
export const logBatchFailed = event<{ err: unknown }>(
  'warn',
  'Actions could not be delivered together, each is delivered alone',
);
export const logFanOutAttemptFailed = event<{ actionId: string; attempt: number } & Failure>(
  'warn',
  'Fan-out attempt failed, it will be retried',
);
export const logFanOutGivenUp = event<{ actionId: string; attempts: number } & Failure>(
  'error',
  'Fan-out failed for good, an admin can retry it',
);

/** Not an error: another pass with the action's current state follows. */
export const logFanOutOvertaken = event<{ actionId: string; version: number }>(
  'debug',
  'Fan-out pass ended early, the action was hidden, shown again or deleted',
);
export const logLeaseLost = event<{ actionId: string; worker: string }>(
  'warn',
  'Lease lost, another worker has the action',
);
export const logFeedRebuilt = event<{ userId: string; seconds: number }>('debug', 'Feed rebuilt');
export const logRescored = event<{ generation: string; actions: number; seconds: number }>(
  'debug',
  'Ranking scores computed',
);
export const logNameCarried = event<{
  id: string;
  version: number;
  actions: number;
  seconds: number;
}>('debug', 'Copies of a changed name updated');
export const logRenameAttemptFailed = event<{ id: string; attempt: number } & Failure>(
  'warn',
  'Updating the copies of a name failed, it will be retried',
);
