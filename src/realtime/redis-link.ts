import type { RedisConnections } from '../connections/redis.ts';

/** How a part of the live log, of the signals or of the ends of sessions uses one Redis. */
export interface RedisLink {
  /** Stays the caller's: it is closed after what uses it. */
  readonly redis: Pick<RedisConnections, 'commands' | 'subscriber' | 'isSharded'>;
  /** Before every key and channel, such as `fanfare:<db>:`. */
  readonly prefix: string;
  /** Faults that are survived: what was tried, and why it failed. It is retried without being asked for. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}
