import type { Logger } from './logger.ts';

// One function per thing worth a line. The level, the wording and the field names are decided here, once.

export function logListening(log: Pick<Logger, 'info'>, fields: { readonly url: string }): void {
  log.info(fields, 'Listening');
}

export function logWorkerStarted(
  log: Pick<Logger, 'info'>,
  fields: { readonly worker: string; readonly concurrency: number; readonly model: string },
): void {
  log.info(fields, 'Fan-out worker started');
}

export function logWorkerStopped(log: Pick<Logger, 'info'>, fields: { readonly worker: string }): void {
  log.info(fields, 'Fan-out worker stopped');
}

/** The names are many at a first start: they would fill the screen. */
export function logIndexesCreated(
  log: Pick<Logger, 'info' | 'debug'>,
  { indexes }: { readonly indexes: readonly string[] },
): void {
  log.info({ count: indexes.length }, 'Indexes created');
  log.debug({ indexes }, 'Names of the indexes created');
}

export function logIndexesDropped(
  log: Pick<Logger, 'info'>,
  fields: { readonly indexes: readonly string[] },
): void {
  log.info(fields, 'Indexes that nothing needs any more were dropped');
}

export function logFanOutFinished(
  log: Pick<Logger, 'debug'>,
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

export function logFeedRebuilt(
  log: Pick<Logger, 'debug'>,
  fields: { readonly userId: string; readonly seconds: number },
): void {
  log.debug(fields, 'Feed rebuilt');
}

export function logRescored(
  log: Pick<Logger, 'debug'>,
  fields: { readonly generation: string; readonly actions: number; readonly seconds: number },
): void {
  log.debug(fields, 'Ranking scores made');
}

export function logMigrationStarted(
  log: Pick<Logger, 'info'>,
  fields: { readonly version: number; readonly name: string },
): void {
  log.info(fields, 'Migration started');
}

export function logMigrationWaits(
  log: Pick<Logger, 'warn'>,
  fields: { readonly version: number; readonly name: string; readonly olderProcesses: number },
): void {
  log.warn(fields, 'A migration waits until processes of an older release have ended');
}

export function logMigrationFinished(
  log: Pick<Logger, 'info'>,
  fields: { readonly version: number; readonly name: string; readonly documents: number },
): void {
  log.info(fields, 'Migration finished');
}

export function logMigrationFailed(log: Pick<Logger, 'error'>, fields: { readonly err: unknown }): void {
  log.error(fields, 'A migration failed, it goes on from its checkpoint');
}

export function logPresenceTrouble(log: Pick<Logger, 'warn'>, fields: { readonly err: unknown }): void {
  log.warn(fields, 'Cannot note in the database that this process runs');
}

export function logNameCarried(
  log: Pick<Logger, 'debug'>,
  fields: {
    readonly id: string;
    readonly version: number;
    readonly actions: number;
    readonly seconds: number;
  },
): void {
  log.debug(fields, 'New name carried to its copies');
}

export function logRenameAttemptFailed(
  log: Pick<Logger, 'warn'>,
  fields: { readonly id: string; readonly attempt: number; readonly err: unknown },
): void {
  log.warn(fields, 'Carrying a new name failed, it will be tried again');
}

export function logFanOutAttemptFailed(
  log: Pick<Logger, 'warn'>,
  fields: { readonly actionId: string; readonly attempt: number; readonly err: unknown },
): void {
  log.warn(fields, 'Fan-out attempt failed, it will be tried again');
}

export function logFanOutGivenUp(
  log: Pick<Logger, 'error'>,
  fields: { readonly actionId: string; readonly attempts: number; readonly err: unknown },
): void {
  log.error(fields, 'Fan-out given up, an admin can retry it');
}

/** Nothing is wrong: a pass for the action as it is now follows. */
export function logFanOutOvertaken(
  log: Pick<Logger, 'debug'>,
  fields: { readonly actionId: string; readonly version: number },
): void {
  log.debug(fields, 'Fan-out pass ended early, the action was hidden, shown again or deleted');
}

export function logLeaseLost(
  log: Pick<Logger, 'warn'>,
  fields: { readonly actionId: string; readonly worker: string },
): void {
  log.warn(fields, 'Lease lost, another worker has the action');
}

/** One line for each read: that Redis cannot be reached is logged once, with `logRedisLost`. */
export function logFeedReadWithoutStore(log: Pick<Logger, 'debug'>, fields: { readonly err: unknown }): void {
  log.debug(fields, 'Feed served from the actions, its store cannot be reached');
}

/** It is tried on with what it has failed to take. */
export function logWebhookDown(
  log: Pick<Logger, 'warn'>,
  fields: { readonly receiver: string; readonly error: string },
): void {
  log.warn(fields, 'A receiver of webhooks is down, new events wait');
}

export function logWebhookBack(log: Pick<Logger, 'info'>, fields: { readonly receiver: string }): void {
  log.info(fields, 'A receiver of webhooks is back');
}

export function logWebhookGivenUp(
  log: Pick<Logger, 'error'>,
  fields: {
    readonly receiver: string;
    readonly eventId: string;
    readonly attempts: number;
    readonly error: string;
  },
): void {
  log.error(fields, 'Webhook given up, an admin can retry it');
}

/** @param fields.events how many at most: also those that it did not ask for. */
export function logWebhookSkipped(
  log: Pick<Logger, 'error'>,
  fields: { readonly receiver: string; readonly events: number },
): void {
  log.error(
    fields,
    'A receiver of webhooks was behind for longer than events are kept, some were never sent',
  );
}

export function logWorkerTrouble(log: Pick<Logger, 'error'>, fields: { readonly err: unknown }): void {
  log.error(fields, 'The worker cannot look for work, it goes on trying');
}

/** @param fields.seconds by how much the machine's clock is ahead. */
export function logClockSkewed(log: Pick<Logger, 'warn'>, fields: { readonly seconds: number }): void {
  log.warn(fields, "The machine's clock differs from the database's, which is the one that counts");
}

export function logClockRight(log: Pick<Logger, 'info'>, fields: { readonly seconds: number }): void {
  log.info(fields, "The machine's clock agrees with the database's again");
}

/** A fault of ours: the client got a masked error with this id. */
export function logRequestFailed(
  log: Pick<Logger, 'error'>,
  fields: { readonly errorId: string; readonly err: unknown },
): void {
  log.error(fields, 'Request failed');
}

export function logRequest(
  log: Pick<Logger, 'debug'>,
  fields: { readonly operation: string | null; readonly code: string; readonly seconds: number },
): void {
  log.debug(fields, 'Request');
}

export function logTokenRefused(log: Pick<Logger, 'debug'>, fields: { readonly reason: string }): void {
  log.debug(fields, 'Token refused');
}

/** Known keys stay in use meanwhile. */
export function logKeysNotFetched(log: Pick<Logger, 'warn'>, fields: { readonly err: unknown }): void {
  log.warn(fields, 'The keys behind JWKS_URI cannot be fetched');
}

export function logKeysBroken(
  log: Pick<Logger, 'warn'>,
  fields: { readonly keyIds: readonly string[] },
): void {
  log.warn(fields, 'Some keys behind JWKS_URI cannot be used');
}

/** The other end broke the protocol or the connection. */
export function logSocketTrouble(log: Pick<Logger, 'debug'>, fields: { readonly err: unknown }): void {
  log.debug(fields, 'Socket closed for an error');
}

export function logRedisLost(log: Pick<Logger, 'warn'>, fields: { readonly err: unknown }): void {
  log.warn(fields, 'Redis cannot be reached');
}

export function logRedisBack(log: Pick<Logger, 'info'>): void {
  log.info({}, 'Redis is back');
}

/** Watchers may miss events for a moment; they are asked to resync. */
export function logLiveLogTrouble(
  log: Pick<Logger, 'warn'>,
  fields: { readonly what?: string; readonly err: unknown },
): void {
  log.warn(fields, 'The live log is in trouble');
}

/** @param fields.erasure the key of the erasure, which does not tell whose it is. */
export function logErasureRound(
  log: Pick<Logger, 'info'>,
  fields: { readonly erasure: string; readonly round: string; readonly seconds: number },
): void {
  log.info(fields, 'A round of an erasure came to its end');
}

export function logErasureFailed(
  log: Pick<Logger, 'warn'>,
  fields: { readonly erasure: string; readonly attempt: number; readonly err: unknown },
): void {
  log.warn(fields, 'An erasure failed, it will be tried again');
}

export function logDatabases(
  log: Pick<Logger, 'info'>,
  fields: { readonly mongodb: string; readonly redis: string },
): void {
  log.info(fields, 'Databases');
}

/** What a local database is doing while it is made ready, and when it ends though nobody asked it to. */
export function logEmbeddedStep(
  log: Pick<Logger, 'info' | 'error'>,
  event: { readonly step: string; readonly message: string; readonly fraction?: number },
): void {
  const { message, ...fields } = event;
  if (event.step === 'exit') log.error(fields, message);
  else log.info(fields, message);
}

export function logHeartbeatFailed(log: Pick<Logger, 'warn'>, fields: { readonly err: unknown }): void {
  log.warn(fields, 'The heartbeat of the worker cannot be written: worker --health will fail');
}

export function logProcessStarted(
  log: Pick<Logger, 'info'>,
  fields: { readonly process: number; readonly pid: number },
): void {
  log.info(fields, 'Process started');
}

/** It is started again. */
export function logProcessEnded(
  log: Pick<Logger, 'warn'>,
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

export function logClosing(log: Pick<Logger, 'info'>, fields: { readonly reason: string }): void {
  log.info(fields, 'Closing');
}

export function logClosed(log: Pick<Logger, 'info'>, fields: { readonly seconds: number }): void {
  log.info(fields, 'Closed');
}

export function logCrash(log: Pick<Logger, 'fatal'>, fields: { readonly err: unknown }): void {
  log.fatal(fields, 'Unexpected error');
}
