import { tenantOf } from '../../domain/tenant.ts';
import { isTrusted, type Identity } from '../../domain/viewer.ts';
import { networkOf } from './addresses.ts';
import type { ConnectionEnds } from './own-visitor.ts';

/** Whom requests and connections are counted for. */
export interface Counted {
  /** `null`: there was no token. */
  readonly identity: Identity | null;
  readonly address: string;
}

export interface Caller extends Counted {
  /** Both ends of the connection of a request over HTTP. */
  readonly connection?: ConnectionEnds;
  /** The caller used a ticket, which opens event streams only. */
  readonly byTicket?: boolean;
  readonly transport: 'http' | 'websocket';
}

/** Key under which a caller's requests are counted. */
export function rateLimitKey({ identity, address }: Counted): string {
  return identity === null ? `address:${networkOf(address)}` : `user:${identity.userId}`;
}

/** Key under which a caller gets a share of what is limited in total; `null`: a service or an admin, who may use all. */
export function holderOf(caller: Counted): string | null {
  return caller.identity !== null && isTrusted(caller.identity) ? null : rateLimitKey(caller);
}

/** Key under which all requests of a tenant are counted; `null`: none. */
export function tenantKey({ identity }: Counted): string | null {
  const tenant = identity === null ? null : tenantOf(identity.userId);
  return tenant === null ? null : `tenant:${tenant}`;
}
