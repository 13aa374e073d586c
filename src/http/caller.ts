import type { Identity } from '../domain/viewer.ts';

/** Who sent a request, and how. */
export interface Caller {
  /** Null: there was no token. */
  readonly identity: Identity | null;
  /** The network address it came from. */
  readonly address: string;
  readonly transport: 'http' | 'websocket';
}

/** What a caller's requests are counted under. */
export function rateLimitKey({ identity, address }: Caller): string {
  return identity === null ? `address:${address}` : `user:${identity.userId}`;
}
