import type { Config } from '../config/config.ts';
import type { RedisConnections } from '../connections/redis.ts';
import type { LiveLog } from './live-log.ts';
import { MemoryLiveLog } from './memory-live-log.ts';
import { MemorySessionEnds } from './memory-session-ends.ts';
import { MemoryWorkSignal } from './memory-work-signal.ts';
import { RedisLiveLog } from './redis-live-log.ts';
import { RedisSessionEnds, type EndedAmong } from './redis-session-ends.ts';
import { RedisWorkSignal } from './redis-work-signal.ts';
import type { SessionEnds } from './session-ends.ts';
import type { WorkSignal } from './work-signal.ts';

export interface Realtime {
  readonly liveLog: LiveLog;
  readonly workSignal: WorkSignal;
  readonly sessionEnds: SessionEnds;
}

/** The live log, the wake-ups and the ends of sessions of one process: on Redis, or in memory for a process that has none. */
export function createRealtime(
  options: Config['live'] & { readonly prefix: string; readonly endedAmong: EndedAmong },
  redis: RedisConnections | null,
  onTrouble: (what: string, error: unknown) => void,
): Realtime {
  const { windowMs, maxEvents, maxBufferedEvents, prefix, endedAmong } = options;
  const limits = { windowMs, logLength: maxEvents, bufferLimit: maxBufferedEvents };
  if (redis === null)
    return {
      liveLog: new MemoryLiveLog(limits),
      workSignal: new MemoryWorkSignal(),
      sessionEnds: new MemorySessionEnds(),
    };
  return {
    liveLog: new RedisLiveLog({ ...limits, redis, prefix, onTrouble }),
    workSignal: new RedisWorkSignal({ redis, prefix, onTrouble }),
    sessionEnds: new RedisSessionEnds({ redis, prefix, endedAmong, onTrouble }),
  };
}
