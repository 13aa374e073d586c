import type { Config } from '../config/config.ts';
import type { RedisPart, RedisParts } from '../connections/redis-parts.ts';
import type { LiveLog } from './live-log.ts';
import { type SessionEnds, RedisSessionEnds, type EndedAmong } from './session-ends.ts';
import { type WorkSignal, RedisWorkSignal } from './work-signal.ts';
import { PartitionedLiveLog } from './partitioned-live-log.ts';
import { RedisLiveLog } from './redis-live-log.ts';

export interface Realtime {
  readonly liveLog: LiveLog;
  readonly workSignal: WorkSignal;
  readonly sessionEnds: SessionEnds;
}

/** Live log, wake-ups and session ends of one process. */
export function createRealtime(
  options: Config['live'] & { readonly endedAmong: EndedAmong },
  { parts: [first, ...others] }: RedisParts,
  onTrouble: (what: string, error: unknown) => void,
): Realtime {
  const { windowMs, maxEvents, maxBufferedEvents, endedAmong } = options;
  const limits = { windowMs, logLength: maxEvents, bufferLimit: maxBufferedEvents };
  const logOf = (part: RedisPart): LiveLog =>
    new RedisLiveLog({ ...limits, redis: part, prefix: part.prefix, onTrouble });
  const rest = { redis: first, prefix: first.prefix, onTrouble };
  return {
    liveLog: others.length === 0 ? logOf(first) : new PartitionedLiveLog([first, ...others].map(logOf)),
    workSignal: new RedisWorkSignal(rest),
    sessionEnds: new RedisSessionEnds({ ...rest, endedAmong }),
  };
}
