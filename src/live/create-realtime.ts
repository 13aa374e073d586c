import type { Config } from '../config/config.ts';
import { type RedisPart, type RedisParts, byPart, partIndex } from '../connections/redis-parts.ts';
import type { GapNotes, LiveLog, LiveAppend, LiveMessages, WatchOptions } from './live-log.ts';
import { type SessionEnds, RedisSessionEnds, type EndedAmong } from './session-ends.ts';
import { type WorkSignal, RedisWorkSignal } from './work-signal.ts';
import { RedisLiveLog } from './redis-live-log.ts';
import type { UserId } from '../domain/action.ts';

/** Live log on a cluster: each reader's log is in one partition; partitions know nothing of each other. */
export class PartitionedLiveLog implements LiveLog {
  readonly #parts: readonly LiveLog[];

  /** @param parts owned by this log. All processes must pass them in the same order. */
  constructor(parts: readonly LiveLog[]) {
    this.#parts = parts;
  }

  async check(): Promise<void> {
    await all(this.#parts.map((part) => part.check()));
  }

  /**
   * If a partition fails while others answer, its readers count as watching: appending for them then fails there, which is
   * recorded as their gap and does not keep events from other readers.
   */
  async watched(userIds: readonly UserId[]): Promise<UserId[]> {
    const asked = [...byPart(userIds, (userId) => userId, this.#parts.length)];
    const found = await Promise.allSettled(asked.map(([index, some]) => this.#at(index).watched(some)));
    const [failure] = found.filter((result) => result.status === 'rejected');
    if (failure !== undefined && found.every(({ status }) => status === 'rejected')) throw failure.reason;
    const watched = new Set(
      found.flatMap((result, index) =>
        result.status === 'fulfilled' ? result.value : (asked[index]?.[1] ?? []),
      ),
    );
    return userIds.filter((userId) => watched.has(userId));
  }

  /** Continues after a partition that fails, which has recorded a gap for its own readers, and rejects at the end. */
  async *allWatched(): AsyncGenerator<readonly UserId[], void, undefined> {
    const failures: unknown[] = [];
    for (const part of this.#parts) {
      const watched = part.allWatched()[Symbol.asyncIterator]();
      for (;;) {
        const next = await watched.next().catch((error: unknown) => {
          failures.push(error);
          return null;
        });
        if (next === null || next.done === true) break;
        yield next.value;
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async append(entries: readonly LiveAppend[]): Promise<void> {
    await all(
      [...byPart(entries, ({ userId }) => userId, this.#parts.length)].map(([index, some]) =>
        this.#at(index).append(some),
      ),
    );
  }

  watch(options: WatchOptions): Promise<LiveMessages> {
    return this.#of(options.userId).watch(options);
  }

  position(userId: UserId): Promise<string> {
    return this.#of(userId).position(userId);
  }

  forget(userId: UserId): Promise<void> {
    return this.#of(userId).forget(userId);
  }

  async interrupt(): Promise<void> {
    await all(this.#parts.map((part) => part.interrupt()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await all(this.#parts.map(async (part) => part[Symbol.asyncDispose]()));
  }

  #of(userId: UserId): LiveLog {
    return this.#at(partIndex(userId, this.#parts.length));
  }

  #at(index: number): LiveLog {
    const part = this.#parts[index];
    if (part === undefined) throw new Error(`There is no part ${String(index)}`);
    return part;
  }
}

/** Waits for all, even if one fails. */
async function all<T>(tasks: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(tasks);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

export interface Realtime {
  readonly liveLog: LiveLog;
  readonly workSignal: WorkSignal;
  readonly sessionEnds: SessionEnds;
}

/** Live log, wake-ups and session ends of one process. */
export function createRealtime(
  options: Config['live'] & { readonly endedAmong: EndedAmong; readonly gapNotes?: GapNotes },
  { parts: [first, ...others] }: RedisParts,
  onTrouble: (what: string, error: unknown) => void,
): Realtime {
  const { windowMs, maxEvents, maxBufferedEvents, endedAmong, gapNotes } = options;
  const limits = { windowMs, logLength: maxEvents, bufferLimit: maxBufferedEvents };
  const logOf = (part: RedisPart): LiveLog =>
    new RedisLiveLog({
      ...limits,
      ...(gapNotes && { gapNotes }),
      redis: part,
      prefix: part.prefix,
      onTrouble,
    });
  const rest = { redis: first, prefix: first.prefix, onTrouble };
  return {
    liveLog: others.length === 0 ? logOf(first) : new PartitionedLiveLog([first, ...others].map(logOf)),
    workSignal: new RedisWorkSignal(rest),
    sessionEnds: new RedisSessionEnds({ ...rest, endedAmong }),
  };
}
