import type { Logger } from '../logger.ts';

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
