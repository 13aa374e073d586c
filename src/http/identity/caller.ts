import { tenantOf } from '../../domain/tenant.ts';
import type { Identity } from '../../domain/viewer.ts';
import { networkOf } from './addresses.ts';
import type { ConnectionEnds } from './own-visitor.ts';

export interface Caller {
  /** `null`: there was no token. */
  readonly identity: Identity | null;
  readonly address: string;
  /** Both ends of the connection of a request over HTTP. */
  readonly connection?: ConnectionEnds;
  /** The caller used a ticket, which opens event streams only. */
  readonly byTicket?: boolean;
  readonly transport: 'http' | 'websocket';
}

/** Callers whom only totals limit. */
export function isTrusted(identity: Identity | null): boolean {
  return identity !== null && (identity.roles.has('service') || identity.roles.has('admin'));
}

/** Key under which a caller's requests are counted. */
export function rateLimitKey({ identity, address }: Pick<Caller, 'identity' | 'address'>): string {
  return identity === null ? `address:${networkOf(address)}` : `user:${identity.userId}`;
}

/** Key under which all requests of a tenant are counted; `null`: none. */
export function tenantKey({ identity }: Pick<Caller, 'identity'>): string | null {
  const tenant = identity === null ? null : tenantOf(identity.userId);
  return tenant === null ? null : `tenant:${tenant}`;
}
