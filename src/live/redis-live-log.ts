import { randomBytes } from 'node:crypto';
import type { UserId } from '../domain/action.ts';
import { GapLedger, LiveWatcher, type WatcherHost, WatcherSet } from './live-watcher.ts';
import { gathered } from '../lib/gathered.ts';
import {
  encodeLiveCursor,
  epochOf,
  readerTag,
  LiveLogUnavailable,
  type LiveAppend,
  type LiveLog,
  type LiveMessages,
  type WatchOptions,
  resolveLimits,
  type LiveLogLimits,
  type LiveLogOptions,
  type GapNotes,
} from './live-log.ts';
import { hintChannel, decodeHints, decodeSnapshot, type RedisLink } from './redis-live-wire.ts';
import { asUnavailable, RedisLiveStore, type AskedLog } from './redis-live-store.ts';
import { RedisChannel } from './redis-channel.ts';

export interface RedisLiveLogOptions extends LiveLogOptions, RedisLink {
  /** Default: what a process knows of missing events ends with it. */
  readonly gapNotes?: GapNotes;
}

/** How often the watchers of a process look together whether the store still has its data. In milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** Logs read by one script, which must not block Redis for long. */
const READ_AT_ONCE = 50;
const READS_AT_ONCE = 2;

const nameOf = (log: AskedLog): string => JSON.stringify(log);

export class RedisLiveLog implements LiveLog {
  readonly #redis: RedisLiveLogOptions['redis'];
  readonly #limits: LiveLogLimits;
  readonly #host: WatcherHost;
  readonly #onTrouble: (what: string, error: unknown) => void;
  readonly #gapNotes: GapNotes | undefined;
  readonly #store: RedisLiveStore;
  readonly #hints: RedisChannel;
  readonly #watchers = new WatcherSet();
  readonly #gaps = new GapLedger();
  /** Announcements on their way. */
  #announcing = 0;
  /** Each log is decoded on its own: one that cannot be does not concern the others. */
  readonly #read = gathered(
    async (logs: readonly AskedLog[]) => {
      const replies = await this.#store.open(logs, this.#name);
      return new Map(logs.map((log, index) => [nameOf(log), replies[index]]));
    },
    { nameOf, most: READ_AT_ONCE, atOnce: READS_AT_ONCE },
  );
  /** Identifies this process as a watcher in the logs. */
  readonly #name = randomBytes(8).toString('hex');
  /** Readers whose events still arrive although nobody watches them here any more. */
  readonly #left = new Set<UserId>();
  #timer: NodeJS.Timeout | null = null;
  /** Turns of the timer until watches are renewed. */
  #untilRenewal = 0;
  /** The epoch of the log that was read last; `null`: none was read, or it is not the current one. */
  #epoch: string | null = null;
  #tick: Promise<void> | null = null;
  #closed = false;

  readonly #onMessage = (text: string): void => {
    try {
      for (const { userId, frame } of decodeHints(text)) {
        const watchers = this.#watchers.of(userId);
        if (watchers.length === 0) this.#left.add(userId);
        for (const watcher of watchers) watcher.receive(frame);
      }
    } catch (error) {
      // The reader of the frame is unknown. Their next frame reveals the gap, or else the next renewal does.
      this.#onTrouble('read a hint', error);
    }
  };
  readonly #onReady = (): void => {
    // After a round that may still be failing on the lost connection.
    void Promise.resolve(this.#tick).then(() => this.#maintain());
  };

  constructor(options: RedisLiveLogOptions) {
    this.#redis = options.redis;
    this.#limits = resolveLimits(options);
    this.#onTrouble = options.onTrouble ?? (() => undefined);
    this.#gapNotes = options.gapNotes;
    this.#host = {
      bufferLimit: this.#limits.bufferLimit,
      logLength: this.#limits.logLength,
      load: async (userId, position) => {
        const log = { userId, position };
        const snapshot = decodeSnapshot((await this.#read(log)).get(nameOf(log)));
        this.#noteEpoch(epochOf(snapshot.head.generation));
        return snapshot;
      },
      onStale: (error) => this.#onTrouble('follow a log', error),
      onEnd: (watcher) => {
        if (!this.#watchers.delete(watcher)) return;
        this.#hints.release();
        this.#setTimer();
      },
    };
    this.#store = new RedisLiveStore(options.redis, options.prefix, this.#limits);
    this.#hints = new RedisChannel({
      redis: options.redis,
      channel: hintChannel(options.prefix, this.#name),
      onMessage: this.#onMessage,
      onResumed: () => {
        for (const watcher of this.#watchers.all()) void watcher.verify();
      },
    });
    this.#redis.commands.on('ready', this.#onReady);
  }

  /** Current contents, for metrics and leak tests. */
  get usage(): {
    readonly watchers: number;
    readonly readers: number;
    readonly channels: number;
    readonly timers: number;
  } {
    return {
      watchers: this.#watchers.size,
      readers: this.#watchers.readers.length,
      channels: Number(this.#hints.isHeld),
      timers: this.#timer === null ? 0 : 1,
    };
  }

  async check(): Promise<void> {
    this.#assertOpen();
    await this.#store.check();
  }

  async watched(userIds: readonly UserId[]): Promise<UserId[]> {
    this.#assertOpen();
    void this.#announceGaps();
    try {
      return await this.#store.watched(userIds);
    } catch (error) {
      await this.#noteGap(userIds);
      throw error;
    }
  }

  async *allWatched(): AsyncGenerator<readonly UserId[], void, undefined> {
    this.#assertOpen();
    void this.#announceGaps();
    try {
      yield* this.#store.allWatched();
    } catch (error) {
      await this.#noteGap('all');
      throw error;
    }
  }

  async append(entries: readonly LiveAppend[]): Promise<void> {
    this.#assertOpen();
    if (entries.length === 0) return;
    // Not awaited: appends must be sent in the order of their calls.
    void this.#announceGaps();
    const failure = await this.#store.append(entries);
    if (failure === null) return;
    await this.#noteGap(failure.lost);
    throw failure.error;
  }

  async watch(options: WatchOptions): Promise<LiveMessages> {
    this.#assertOpen();
    const watcher = new LiveWatcher(this.#host, options);
    if (watcher.stream.ended) return watcher.stream;
    this.#watchers.add(watcher);
    this.#setTimer();
    try {
      await this.#hints.hold();
      await watcher.open();
    } catch (cause) {
      watcher.stream.end();
      if (!options.signal.aborted && !this.#closed) throw asUnavailable('subscribe', cause);
    }
    return watcher.stream;
  }

  async position(userId: UserId): Promise<string> {
    this.#assertOpen();
    const [reply] = await this.#store.open([{ userId, position: null }], null);
    try {
      return encodeLiveCursor(readerTag(userId), decodeSnapshot(reply).head);
    } catch (cause) {
      throw asUnavailable('read a log', cause);
    }
  }

  async forget(userId: UserId): Promise<void> {
    this.#assertOpen();
    try {
      await this.#store.forget(userId);
    } catch (error) {
      await this.#noteGap([userId]);
      throw error;
    }
  }

  async interrupt(): Promise<void> {
    this.#assertOpen();
    await this.#store.markGaps('all');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const watcher of this.#watchers.all()) watcher.stream.end();
    this.#setTimer();
    await this.#tick;
    this.#redis.commands.off('ready', this.#onReady);
    await this.#hints[Symbol.asyncDispose]();
    await this.#announceGaps();
  }

  #assertOpen(): void {
    if (this.#closed) throw new LiveLogUnavailable('Live log: closed');
  }

  /** The caller may store its delivery as done right after this: by then the gap must be written down. */
  async #noteGap(gaps: Iterable<UserId> | 'all'): Promise<void> {
    this.#gaps.note(gaps);
    this.#setTimer();
    try {
      await this.#gapNotes?.noted(this);
    } catch (error) {
      this.#onTrouble('write down a gap', error);
    }
  }

  /** Resolves when nothing is left to announce, or after a failure, which keeps the rest for later. */
  async #announceGaps(): Promise<void> {
    if (this.#gaps.isEmpty) return;
    const gaps = this.#gaps.take();
    this.#announcing += 1;
    try {
      await this.#store.markGaps(gaps);
    } catch (error) {
      await this.#noteGap(gaps);
      this.#onTrouble('announce a gap', error);
    } finally {
      this.#announcing -= 1;
    }
    this.#withdrawNote();
  }

  #withdrawNote(): void {
    if (this.#announcing === 0 && this.#gaps.isEmpty) this.#gapNotes?.announced(this);
  }

  /** A single timer, active only while there is something to do. */
  #setTimer(): void {
    const isNeeded = !this.#closed && (this.#watchers.size > 0 || !this.#gaps.isEmpty);
    if (isNeeded && this.#timer === null) {
      const everyMs = Math.min(LOOK_EVERY_MS, this.#limits.renewEveryMs);
      this.#untilRenewal = this.#renewalTurns;
      this.#timer = setInterval(() => void this.#look(), everyMs).unref();
    }
    if (!isNeeded && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  get #renewalTurns(): number {
    return Math.max(1, Math.floor(this.#limits.renewEveryMs / LOOK_EVERY_MS));
  }

  /** Renews watches when it is time, or at once if the store has lost its data. */
  async #look(): Promise<void> {
    this.#untilRenewal -= 1;
    if (this.#untilRenewal <= 0) {
      await this.#maintain();
      return;
    }
    try {
      this.#noteEpoch(await this.#store.epoch());
    } catch {
      // The next renewal fails as well, and says so.
    }
  }

  /** With another epoch than before, each watcher has to read its log again. */
  #noteEpoch(epoch: string | null): void {
    const before = this.#epoch;
    this.#epoch = epoch;
    if (before !== null && before !== epoch) void this.#maintain();
  }

  #maintain(): Promise<void> {
    this.#untilRenewal = this.#renewalTurns;
    this.#tick ??= this.#keepUp()
      .catch((error: unknown) => this.#onTrouble('renew watches', error))
      .finally(() => {
        this.#tick = null;
        this.#setTimer();
      });
    return this.#tick;
  }

  /** Announces gaps, renews watches, and makes watchers that are not at the end of their log read it again. */
  async #keepUp(): Promise<void> {
    await this.#announceGaps();
    const readers = this.#watchers.readers;
    if (readers.length === 0) return;
    // Makes a silently dead connection fail, so that it is reopened.
    this.#redis.subscriber.ping().catch(() => undefined);
    await this.#leave();
    const renewals = await this.#store.renew(readers, this.#name);
    for (const [index, userId] of readers.entries()) {
      const renewal = renewals[index] ?? null;
      for (const watcher of this.#watchers.of(userId))
        if (renewal === null || !watcher.isUpTo(renewal.generation, renewal.sequence)) void watcher.verify();
    }
  }

  /** If a reader is watched again by now, their watcher's command follows and registers them again. */
  async #leave(): Promise<void> {
    const left = [...this.#left].filter((userId) => this.#watchers.of(userId).length === 0);
    this.#left.clear();
    if (left.length > 0) await this.#store.leave(left, this.#name);
  }
}
