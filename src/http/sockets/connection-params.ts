import { TENANT_HEADER, unauthenticated } from '../identity/auth.ts';

type ConnectionParams = Readonly<Record<string, unknown>> | undefined;

/** Maximum length of a close reason. */
const MAX_REASON_BYTES = 123;

/**
 * A socket's credential in the form of the header: `authorization` in any letter case, or `token`, with or without "Bearer".
 * Undefined if there is neither. Throws UNAUTHENTICATED if it is not a string.
 */
export function authorizationOf(params: ConnectionParams): string | undefined {
  const authorization = textOf(params, 'authorization');
  if (authorization !== undefined) return authorization;
  const token = textOf(params, 'token');
  return token === undefined || /^bearer\s/i.test(token) ? token : `Bearer ${token}`;
}

/** The tenant named by an operator. Throws UNAUTHENTICATED if it is not a string. */
export function tenantIn(params: ConnectionParams): string | undefined {
  return textOf(params, TENANT_HEADER);
}

function textOf(params: ConnectionParams, name: string): string | undefined {
  const [given, value] = Object.entries(params ?? {}).find(([key]) => key.toLowerCase() === name) ?? [];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string')
    throw unauthenticated(`The connection parameter "${given ?? name}" is not a string`);
  return value;
}

/** The text, truncated to fit into a close frame. */
export function closeReason(text: string): string {
  let reason = text;
  while (Buffer.byteLength(reason) > MAX_REASON_BYTES) reason = reason.slice(0, -1);
  return reason;
}
