import type { Logger } from './logger.ts';
import type { Failure } from './stack-once.ts';

// One function per log event, which fixes its level, wording and field names.

export function logListening(log: Logger, fields: { readonly url: string }): void {
  log.info(fields, 'Listening');
}

export function logDoubtfulSetting(
  log: Logger,
  fields: { readonly setting: string; readonly because: string },
): void {
  log.warn(fields, 'A setting may not have the expected effect');
}

export function logClosing(log: Logger, fields: { readonly reason: string }): void {
  log.info(fields, 'Closing');
}

export function logClosed(log: Logger, fields: { readonly seconds: number }): void {
  log.info(fields, 'Closed');
}

export function logCrash(log: Logger, fields: { readonly err: unknown }): void {
  log.fatal(fields, 'Unexpected error');
}

export function logProcessStarted(
  log: Logger,
  fields: { readonly process: number; readonly pid: number },
): void {
  log.info(fields, 'Process started');
}

/** The process will be killed and restarted. */
export function logProcessHangs(
  log: Logger,
  {
    hasStarted,
    ...fields
  }: {
    readonly process: number;
    readonly pid: number;
    readonly hasStarted: boolean;
    readonly silentForMs: number;
  },
): void {
  log.warn(
    fields,
    hasStarted
      ? 'Process did not respond and was killed'
      : 'Process did not respond during its start and was killed',
  );
}

/** The process will be restarted. */
export function logProcessEnded(
  log: Logger,
  fields: {
    readonly process: number;
    readonly pid: number;
    readonly code: number | null;
    readonly signal: string | null;
    readonly againInMs: number;
  },
): void {
  log.warn(fields, 'Process ended');
}

export function logHeartbeatFailed(log: Logger, fields: { readonly err: unknown }): void {
  log.warn(fields, 'The heartbeat of the worker cannot be written: worker --health will fail');
}

export function logPresenceTrouble(log: Logger, fields: { readonly err: unknown }): void {
  log.warn(fields, 'Cannot record in the database that this process is running');
}

/** @param fields.seconds lead of the machine's clock. */
export function logClockSkewed(log: Logger, fields: { readonly seconds: number }): void {
  log.warn(fields, "The machine's clock differs from the database's, which Fanfare uses");
}

export function logClockRight(log: Logger, fields: { readonly seconds: number }): void {
  log.info(fields, "The machine's clock agrees with the database's again");
}

/** An internal error: the client received a masked error with this id. */
export function logRequestFailed(
  log: Logger,
  fields: { readonly errorId: string; readonly err: unknown },
): void {
  log.error(fields, 'Request failed');
}

/** Follow-up of an outage whose first failure was logged in full. */
export function logRequestUnavailable(
  log: Logger,
  fields: { readonly errorId: string; readonly reason: string },
): void {
  log.warn(fields, 'Request failed, the outage continues');
}

export function logRequest(
  log: Logger,
  fields: { readonly operation: string | null; readonly code: string; readonly seconds: number },
): void {
  log.debug(fields, 'Request');
}

export function logTokenRefused(log: Logger, fields: { readonly reason: string }): void {
  log.debug(fields, 'Token refused');
}

/** Cached keys stay in use. */
export function logKeysNotFetched(log: Logger, fields: { readonly err: unknown }): void {
  log.warn(fields, 'The keys behind JWKS_URI cannot be fetched');
}

export function logKeysBroken(log: Logger, fields: { readonly keyIds: readonly string[] }): void {
  log.warn(fields, 'Some keys behind JWKS_URI cannot be used');
}

/** The server did not wait for a client any longer. */
export function logConnectionEnded(log: Logger, fields: { readonly reason: string }): void {
  log.debug(fields, 'Connection ended');
}

/** The peer violated the protocol or broke the connection. */
export function logSocketTrouble(log: Logger, fields: { readonly err: unknown }): void {
  log.debug(fields, 'Socket closed for an error');
}

export function logDatabases(
  log: Logger,
  fields: { readonly mongodb: string; readonly redis: string },
): void {
  log.info(fields, 'Databases');
}

/** Progress of preparing a local database, and its unexpected end. */
export function logEmbeddedStep(
  log: Logger,
  event: { readonly step: string; readonly message: string; readonly fraction?: number },
): void {
  const { message, ...fields } = event;
  if (event.step === 'exit') log.error(fields, message);
  else log.info(fields, message);
}

/** Logs the number only: a first start creates too many indexes to list. */
export function logIndexesCreated(log: Logger, { indexes }: { readonly indexes: readonly string[] }): void {
  log.info({ count: indexes.length }, 'Indexes created');
  log.debug({ indexes }, 'Names of the indexes created');
}

export function logMigrationStarted(
  log: Logger,
  fields: { readonly version: number; readonly name: string },
): void {
  log.info(fields, 'Migration started');
}

export function logMigrationWaits(
  log: Logger,
  fields: { readonly version: number; readonly name: string; readonly olderProcesses: number },
): void {
  log.warn(fields, 'Migration waits for processes of an older release to end');
}

export function logMigrationFinished(
  log: Logger,
  fields: { readonly version: number; readonly name: string; readonly documents: number },
): void {
  log.info(fields, 'Migration finished');
}

export function logRedisLost(log: Logger, fields: { readonly err: unknown }): void {
  log.warn(fields, 'Redis cannot be reached');
}

export function logRedisBack(log: Logger): void {
  log.info({}, 'Redis is available again');
}

/** Watchers may have missed events; they are asked to resync. */
export function logLiveLogTrouble(
  log: Logger,
  fields: { readonly what?: string; readonly err: unknown },
): void {
  log.warn(fields, 'The live log failed');
}

/** Once per read, at debug level: `logRedisLost` reports the outage itself once. */
export function logFeedReadWithoutStore(log: Logger, fields: { readonly err: unknown }): void {
  log.debug(fields, 'Feed served from the actions, the feed store cannot be reached');
}

export function logWorkerStarted(
  log: Logger,
  fields: { readonly worker: string; readonly concurrency: number; readonly model: string },
): void {
  log.info(fields, 'Fan-out worker started');
}

export function logWorkerStopped(log: Logger, fields: { readonly worker: string }): void {
  log.info(fields, 'Fan-out worker stopped');
}

export function logWorkerTrouble(log: Logger, fields: { readonly err: unknown }): void {
  log.error(fields, 'The worker cannot look for work, it keeps trying');
}

export function logJobFailed(log: Logger, fields: { readonly job: string; readonly err: unknown }): void {
  log.error(fields, 'A background job failed, it will be retried');
}

export function logFanOutFinished(
  log: Logger,
  fields: {
    readonly actionId: string;
    readonly state: string;
    readonly lane: string;
    readonly version: number;
    readonly delivered: number;
    readonly seconds: number;
  },
): void {
  log.debug(fields, 'Fan-out pass finished');
}

export function logBatchFailed(log: Logger, fields: { readonly err: unknown }): void {
  log.warn(fields, 'Actions could not be delivered together, each is delivered alone');
}

export function logFanOutAttemptFailed(
  log: Logger,
  fields: { readonly actionId: string; readonly attempt: number } & Failure,
): void {
  log.warn(fields, 'Fan-out attempt failed, it will be retried');
}

export function logFanOutGivenUp(
  log: Logger,
  fields: { readonly actionId: string; readonly attempts: number } & Failure,
): void {
  log.error(fields, 'Fan-out failed for good, an admin can retry it');
}

/** Not an error: another pass with the action's current state follows. */
export function logFanOutOvertaken(
  log: Logger,
  fields: { readonly actionId: string; readonly version: number },
): void {
  log.debug(fields, 'Fan-out pass ended early, the action was hidden, shown again or deleted');
}

export function logLeaseLost(
  log: Logger,
  fields: { readonly actionId: string; readonly worker: string },
): void {
  log.warn(fields, 'Lease lost, another worker has the action');
}

export function logFeedRebuilt(
  log: Logger,
  fields: { readonly userId: string; readonly seconds: number },
): void {
  log.debug(fields, 'Feed rebuilt');
}

export function logRescored(
  log: Logger,
  fields: { readonly generation: string; readonly actions: number; readonly seconds: number },
): void {
  log.debug(fields, 'Ranking scores computed');
}

export function logNameCarried(
  log: Logger,
  fields: {
    readonly id: string;
    readonly version: number;
    readonly actions: number;
    readonly seconds: number;
  },
): void {
  log.debug(fields, 'Copies of a changed name updated');
}

export function logRenameAttemptFailed(
  log: Logger,
  fields: { readonly id: string; readonly attempt: number } & Failure,
): void {
  log.warn(fields, 'Updating the copies of a name failed, it will be retried');
}

/** @param fields.erasure key of the erasure, which does not identify the member. */
export function logErasureRound(
  log: Logger,
  fields: { readonly erasure: string; readonly round: string; readonly seconds: number },
): void {
  log.info(fields, 'Erasure pass finished');
}

export function logErasureFailed(
  log: Logger,
  fields: { readonly erasure: string; readonly attempt: number } & Failure,
): void {
  log.warn(fields, 'Erasure failed, it will be retried');
}

/** Pending events stay queued and are retried. */
export function logWebhookDown(
  log: Logger,
  fields: { readonly receiver: string; readonly error: string },
): void {
  log.warn(fields, 'Webhook receiver is down, new events wait');
}

export function logWebhookBack(log: Logger, fields: { readonly receiver: string }): void {
  log.info(fields, 'Webhook receiver is up again');
}

export function logWebhookGivenUp(
  log: Logger,
  fields: {
    readonly receiver: string;
    readonly eventId: string;
    readonly attempts: number;
    readonly error: string;
  },
): void {
  log.error(fields, 'Webhook delivery failed for good, an admin can retry it');
}

/** @param fields.events upper bound: includes events the receiver did not subscribe to. */
export function logWebhookSkipped(
  log: Logger,
  fields: { readonly receiver: string; readonly events: number },
): void {
  log.error(fields, 'Webhook receiver was down for longer than events are kept, some were never sent');
}
