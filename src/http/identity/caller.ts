import { tenantOf } from '../../domain/tenant.ts';
import type { Identity } from '../../domain/viewer.ts';

export interface Caller {
  /** Null: there was no token. */
  readonly identity: Identity | null;
  readonly address: string;
  readonly ports?: { readonly remote: number | undefined; readonly local: number | undefined };
  /** The caller showed a ticket, which opens event streams and nothing else. */
  readonly byTicket?: boolean;
  readonly transport: 'http' | 'websocket';
}

/** What a caller's requests are counted under. */
export function rateLimitKey({ identity, address }: Pick<Caller, 'identity' | 'address'>): string {
  return identity === null ? `address:${address}` : `user:${identity.userId}`;
}

/** What the requests of all callers of a tenant are counted under together; null: there is none. */
export function tenantKey({ identity }: Pick<Caller, 'identity'>): string | null {
  const tenant = identity === null ? null : tenantOf(identity.userId);
  return tenant === null ? null : `tenant:${tenant}`;
}
