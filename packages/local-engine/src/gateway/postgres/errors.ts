import type { ServerReport } from './messages.ts';

/** PostgreSQL refused or aborted a statement. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly sqlstate: string;
  readonly detail: string;

  constructor(report: ServerReport) {
    super(report.message);
    this.sqlstate = report.sqlstate;
    this.detail = report.detail;
  }
}

/**
 * The connection to PostgreSQL broke. Whether a statement that was under way took effect is unknown.
 */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** No connection could be had in time; nothing was sent. */
export class PoolTimeout extends Error {
  override readonly name = 'PoolTimeout';
}

/** PostgreSQL could not be reached in time; nothing was sent. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}
