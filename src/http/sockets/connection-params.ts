import { TENANT_HEADER, unauthenticated } from '../identity/auth.ts';

type ConnectionParams = Readonly<Record<string, unknown>> | undefined;

/** A close frame has room for no more. */
const MAX_REASON_BYTES = 123;

/**
 * The credential of a socket in the form of the header: `authorization` in any letter case, or `token`, with or without
 * "Bearer". Undefined when there is neither. Throws UNAUTHENTICATED for what is no text.
 */
export function authorizationOf(params: ConnectionParams): string | undefined {
  const authorization = textOf(params, 'authorization');
  if (authorization !== undefined) return authorization;
  const token = textOf(params, 'token');
  return token === undefined || /^bearer\s/i.test(token) ? token : `Bearer ${token}`;
}

/** The tenant that an operator names. Throws UNAUTHENTICATED for what is no text. */
export function tenantIn(params: ConnectionParams): string | undefined {
  return textOf(params, TENANT_HEADER);
}

function textOf(params: ConnectionParams, name: string): string | undefined {
  const [given, value] = Object.entries(params ?? {}).find(([key]) => key.toLowerCase() === name) ?? [];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string')
    throw unauthenticated(`The connection parameter "${given ?? name}" is not a text`);
  return value;
}

/** The text as far as it fits into a close frame. */
export function closeReason(text: string): string {
  let reason = text;
  while (Buffer.byteLength(reason) > MAX_REASON_BYTES) reason = reason.slice(0, -1);
  return reason;
}
