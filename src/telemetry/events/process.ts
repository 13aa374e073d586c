import type { Logger } from '../logger.ts';

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
