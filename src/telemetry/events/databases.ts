import type { Logger } from '../logger.ts';

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
