import type { UserId } from '../../src/domain/action.ts';
import {
  encodeLiveCursor,
  isOfReader,
  readerTag,
  resolveLimits,
  type LiveAppend,
  type LiveLog,
  type LiveMessages,
  type LogPosition,
  type LogSnapshot,
  type WatchOptions,
} from '../../src/live/live-log.ts';
import { LiveWatcher, type WatcherHost, WatcherSet } from '../../src/live/live-watcher.ts';
import { OpenSessions, type SessionEnds } from '../../src/live/session-ends.ts';
import type { StoreMessage } from './live-store.ts';

/** A process's connections to the store: calls are carried out some time later, and messages come in their order. */
export interface StoreLink {
  kept(names: readonly string[]): Promise<string[]>;
  names(): Promise<string[]>;
  open(name: string, position: LogPosition | null): Promise<LogSnapshot>;
  append(entries: readonly LiveAppend[]): Promise<void>;
  drop(name: string): Promise<void>;
  onMessage(take: (message: StoreMessage) => void): void;
  endSessions(userId: string): Promise<void>;
  onSessionsEnd(take: (userId: string) => void): void;
}

/** The live log of one of several processes that share a store. */
export class SharedLiveLog implements LiveLog {
  readonly #link: StoreLink;
  readonly #watchers = new WatcherSet();
  readonly #host: WatcherHost;

  constructor(link: StoreLink) {
    this.#link = link;
    const { bufferLimit, logLength } = resolveLimits({});
    this.#host = {
      ...{ bufferLimit, logLength },
      load: (userId, position) => link.open(userId, position),
      onStale: () => undefined,
      onEnd: (watcher) => this.#watchers.delete(watcher),
    };
    link.onMessage(({ name, generation, entry }) => {
      for (const watcher of this.#watchers.of(name))
        if (entry === null) void watcher.verify();
        else watcher.receive({ generation, entry });
    });
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  watched(userIds: readonly UserId[]): Promise<UserId[]> {
    return this.#link.kept(userIds);
  }

  async *allWatched(): AsyncGenerator<readonly UserId[], void, undefined> {
    yield (await this.#link.names()).filter(isOfReader);
  }

  append(entries: readonly LiveAppend[]): Promise<void> {
    return this.#link.append(entries);
  }

  async watch(options: WatchOptions): Promise<LiveMessages> {
    const watcher = new LiveWatcher(this.#host, options);
    if (watcher.stream.ended) return watcher.stream;
    this.#watchers.add(watcher);
    await watcher.open();
    return watcher.stream;
  }

  async position(userId: UserId): Promise<string> {
    return encodeLiveCursor(readerTag(userId), (await this.#link.open(userId, null)).head);
  }

  async interrupt(): Promise<void> {
    for (const name of await this.#link.names()) await this.#link.drop(name);
  }

  forget(userId: UserId): Promise<void> {
    return this.#link.drop(userId);
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const watcher of this.#watchers.all()) watcher.stream.end();
    return Promise.resolve();
  }
}

/** Session ends of one of several processes. */
export class SharedSessionEnds implements SessionEnds {
  readonly #link: StoreLink;
  readonly #open = new OpenSessions();

  constructor(link: StoreLink) {
    this.#link = link;
    link.onSessionsEnd((userId) => this.#open.end(userId));
  }

  endSessions(userId: UserId): Promise<void> {
    return this.#link.endSessions(userId);
  }

  onEnd(userId: UserId, callback: () => void): Disposable {
    return this.#open.add(userId, callback);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#open.clear();
    return Promise.resolve();
  }
}
