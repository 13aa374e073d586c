import { randomBytes } from 'node:crypto';
import type { UserId } from '../../src/domain/action.ts';
import {
  encodeLiveCursor,
  isOfReader,
  readerTag,
  type LogPosition,
  LiveLogUnavailable,
  type LiveAppend,
  type LiveLog,
  type LiveMessages,
  type WatchOptions,
  resolveLimits,
  type LiveLogLimits,
  type LiveLogOptions,
  type LogEntry,
  type LogSnapshot,
} from '../../src/live/live-log.ts';
import { OpenSessions, type SessionEnds } from '../../src/live/session-ends.ts';
import { LiveWatcher, type WatcherHost, WatcherSet } from '../../src/live/live-watcher.ts';

interface MemoryLog {
  head: LogPosition;
  entries: LogEntry[];
  /** When it is dropped, unless somebody is watching then. */
  keptUntil: number;
}

/** Live log of one process. It ends with the process, so every restart causes a resync. */
export class MemoryLiveLog implements LiveLog {
  readonly #limits: LiveLogLimits;
  readonly #host: WatcherHost;
  readonly #epoch = randomBytes(8).toString('hex');
  readonly #logs = new Map<UserId, MemoryLog>();
  readonly #watchers = new WatcherSet();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: LiveLogOptions = {}) {
    this.#limits = resolveLimits(options);
    this.#host = {
      bufferLimit: this.#limits.bufferLimit,
      logLength: this.#limits.logLength,
      load: (userId, position) => Promise.resolve(this.#open(userId, position)),
      // Reading memory does not fail.
      onStale: () => undefined,
      onEnd: (watcher) => this.#watchers.delete(watcher),
    };
  }

  /** Current contents, for metrics and leak tests. */
  get usage(): {
    readonly watchers: number;
    readonly readers: number;
    readonly logs: number;
    readonly timers: number;
  } {
    return {
      watchers: this.#watchers.size,
      readers: this.#watchers.readers.length,
      logs: this.#logs.size,
      timers: this.#timer === null ? 0 : 1,
    };
  }

  // oxlint-disable-next-line typescript/require-await -- rejects instead of throwing, as the port says
  async check(): Promise<void> {
    this.#assertOpen();
  }

  // oxlint-disable-next-line typescript/require-await -- rejects instead of throwing, as the port says
  async watched(userIds: readonly UserId[]): Promise<UserId[]> {
    this.#assertOpen();
    return userIds.filter((userId) => this.#logs.has(userId));
  }

  // oxlint-disable-next-line typescript/require-await -- the port is for stores that have to wait
  async *allWatched(): AsyncGenerator<readonly UserId[], void, undefined> {
    this.#assertOpen();
    yield [...this.#logs.keys()].filter(isOfReader);
  }

  // oxlint-disable-next-line typescript/require-await -- rejects instead of throwing, as the port says
  async append(entries: readonly LiveAppend[]): Promise<void> {
    this.#assertOpen();
    for (const { userId, event } of entries) {
      const log = this.#logs.get(userId);
      if (log === undefined) continue;
      const at = elapsed();
      const entry = { at, sequence: log.head.sequence + 1, event };
      log.head = { generation: log.head.generation, at, sequence: entry.sequence };
      log.entries.push(entry);
      this.#trim(log);
      for (const watcher of this.#watchers.of(userId))
        watcher.receive({ generation: log.head.generation, entry });
    }
  }

  async watch(options: WatchOptions): Promise<LiveMessages> {
    this.#assertOpen();
    const watcher = new LiveWatcher(this.#host, options);
    if (watcher.stream.ended) return watcher.stream;
    this.#watchers.add(watcher);
    await watcher.open();
    return watcher.stream;
  }

  // oxlint-disable-next-line typescript/require-await -- rejects instead of throwing, as the port says
  async position(userId: UserId): Promise<string> {
    this.#assertOpen();
    return encodeLiveCursor(readerTag(userId), this.#open(userId, null).head);
  }

  // oxlint-disable-next-line typescript/require-await -- rejects instead of throwing, as the port says
  async forget(userId: UserId): Promise<void> {
    this.#assertOpen();
    this.#logs.delete(userId);
    for (const watcher of this.#watchers.of(userId)) void watcher.verify();
    this.#setTimer();
  }

  // oxlint-disable-next-line typescript/require-await -- rejects instead of throwing, as the port says
  async interrupt(): Promise<void> {
    this.#assertOpen();
    this.#logs.clear();
    for (const watcher of this.#watchers.all()) void watcher.verify();
    this.#setTimer();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const watcher of this.#watchers.all()) watcher.stream.end();
    this.#logs.clear();
    this.#setTimer();
    return Promise.resolve();
  }

  #assertOpen(): void {
    if (this.#closed) throw new LiveLogUnavailable('Live log: closed');
  }

  #open(userId: UserId, position: LogPosition | null): LogSnapshot {
    let log = this.#logs.get(userId);
    if (log === undefined) {
      const generation = this.#epoch + randomBytes(4).toString('hex');
      log = { head: { generation, at: 0, sequence: 0 }, entries: [], keptUntil: 0 };
      this.#logs.set(userId, log);
      this.#setTimer();
    }
    log.keptUntil = elapsed() + this.#limits.keepMs;
    const isSameLog = position?.generation === log.head.generation;
    return {
      head: log.head,
      missed: isSameLog ? log.entries.filter((e) => e.sequence > position.sequence) : [],
    };
  }

  #trim(log: MemoryLog): void {
    const oldest = elapsed() - this.#limits.windowMs;
    const fresh = log.entries.findIndex((entry) => entry.at >= oldest);
    const surplus = log.entries.length - this.#limits.logLength;
    const drop = Math.max(fresh === -1 ? log.entries.length : fresh, surplus);
    if (drop > 0) log.entries.splice(0, drop);
  }

  /** Keeps logs of watched readers and drops those without a watcher for the window. */
  #sweep(): void {
    const now = elapsed();
    for (const userId of this.#watchers.readers) {
      const log = this.#logs.get(userId);
      if (log !== undefined) log.keptUntil = now + this.#limits.keepMs;
    }
    for (const [userId, log] of this.#logs) if (log.keptUntil < now) this.#logs.delete(userId);
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.#logs.size > 0 && this.#timer === null)
      this.#timer = setInterval(() => this.#sweep(), this.#limits.renewEveryMs).unref();
    if (this.#logs.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }
}

/** Milliseconds by a clock that nobody sets. Only this process compares them. */
function elapsed(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

/** Session ends of one process. */
export class MemorySessionEnds implements SessionEnds {
  readonly #open = new OpenSessions();

  endSessions(userId: UserId): Promise<void> {
    this.#open.end(userId);
    return Promise.resolve();
  }

  onEnd(userId: UserId, callback: () => void): Disposable {
    return this.#open.add(userId, callback);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#open.clear();
    return Promise.resolve();
  }
}
