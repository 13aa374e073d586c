import type { RedisConnections } from '../connections/redis.ts';

/** How live log, signals and session ends use one Redis. */
export interface RedisLink {
  /** Owned by the caller, which closes it after its users. */
  readonly redis: RedisConnections;
  /** Prefix of every key and channel, such as `fanfare:<db>:`. */
  readonly prefix: string;
  /** Called for survivable errors with what was attempted; it will be retried. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}
