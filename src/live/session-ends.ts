import type { UserId } from '../domain/action.ts';
import { OnDispose } from '../lib/closer.ts';
import { clock } from '../lib/clock.ts';
import { pubSubOf } from '../connections/redis.ts';
import { type RedisLink, endedChannel } from './redis-live-wire.ts';
import { asUnavailable } from './redis-live-store.ts';
import { RedisChannel } from './redis-channel.ts';

interface RedisSessionEndsOptions extends RedisLink {
  /**
   * Members whose sessions must end. Queried after every connection, since messages are lost without one. Extra ones do no
   * harm.
   */
  readonly endedAmong: EndedAmong;
}

/** @param openedAt members, and when their first open session was opened. */
export type EndedAmong = (openedAt: ReadonlyMap<UserId, Date>) => Promise<readonly UserId[]>;

/** Delay before querying again, in milliseconds. */
const ASK_AGAIN_MS = 1_000;

export class RedisSessionEnds implements SessionEnds {
  readonly #options: RedisSessionEndsOptions;
  readonly #open = new OpenSessions();
  readonly #channel: RedisChannel;
  #asking: Promise<void> | null = null;
  #isToAsk = false;
  #again: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: RedisSessionEndsOptions) {
    this.#options = options;
    this.#channel = new RedisChannel({
      redis: options.redis,
      channel: endedChannel(options.prefix),
      onMessage: (userId) => this.#open.end(userId),
      onResumed: () => this.#ask(),
    });
  }

  async endSessions(userId: UserId): Promise<void> {
    try {
      const { redis, prefix } = this.#options;
      await pubSubOf(redis).publish(redis.commands, endedChannel(prefix), userId);
    } catch (error) {
      throw asUnavailable('end sessions', error);
    }
    // Includes sessions of this process, which may not be listening at this moment.
    this.#open.end(userId);
  }

  onEnd(userId: UserId, callback: () => void): Disposable {
    this.#listen();
    return this.#open.add(userId, callback);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#open.clear();
    if (this.#again !== null) clearTimeout(this.#again);
    this.#again = null;
    await this.#channel[Symbol.asyncDispose]();
    await this.#asking;
  }

  #listen(): void {
    if (this.#channel.isHeld) return;
    // If it fails, it is repeated with the next connection, which also queries.
    this.#channel.hold().then(
      () => this.#ask(),
      (error: unknown) => this.#options.onTrouble?.('listen for ended sessions', error),
    );
  }

  /** One round at a time, plus one more for changes during it. */
  #ask(): void {
    this.#isToAsk = true;
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = null;
    });
  }

  async #askAll(): Promise<void> {
    while (this.#isToAsk && !this.#closed) {
      this.#isToAsk = false;
      const openedAt = this.#open.openedAt();
      if (openedAt.size === 0) return;
      try {
        for (const userId of await this.#options.endedAmong(openedAt)) this.#open.end(userId);
      } catch (error) {
        this.#options.onTrouble?.('find out whose sessions have ended', error);
        this.#askLater();
      }
    }
  }

  #askLater(): void {
    if (this.#closed) return;
    this.#again ??= setTimeout(() => {
      this.#again = null;
      this.#ask();
    }, ASK_AGAIN_MS).unref();
  }
}

interface OpenSession {
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly end: () => void;
}

/** Sessions of one process by member. Lists instead of sets, since nearly everybody has one. */
export class OpenSessions {
  readonly #byMember = new Map<UserId, readonly OpenSession[]>();

  add(userId: UserId, end: () => void): Disposable {
    const session = { openedAt: clock.time(), end };
    this.#byMember.set(userId, [...(this.#byMember.get(userId) ?? []), session]);
    return new OnDispose(() => this.#remove(userId, session));
  }

  end(userId: UserId): void {
    const sessions = this.#byMember.get(userId) ?? [];
    this.#byMember.delete(userId);
    for (const { end } of sessions) end();
  }

  /** All members with a session, and when their first open session was opened. */
  openedAt(): Map<UserId, Date> {
    return new Map(
      [...this.#byMember].map(([userId, sessions]) => [
        userId,
        new Date(Math.min(...sessions.map(({ openedAt }) => openedAt))),
      ]),
    );
  }

  clear(): void {
    this.#byMember.clear();
  }

  #remove(userId: UserId, session: OpenSession): void {
    const others = this.#byMember.get(userId)?.filter((other) => other !== session) ?? [];
    if (others.length === 0) this.#byMember.delete(userId);
    else this.#byMember.set(userId, others);
  }
}

/** Ends a member's sockets and event streams in every process. A token that is still valid can open new ones. */
export interface SessionEnds extends AsyncDisposable {
  /**
   * Ends the sessions of this member. Resolves once all reachable processes have been notified; others find out when they
   * can be reached again. Repeatable.
   * @throws LiveLogUnavailable when it is unknown whether any process was notified.
   */
  endSessions(userId: UserId): Promise<void>;
  /** Calls back once when the member's sessions must end, unless disposed before. */
  onEnd(userId: UserId, callback: () => void): Disposable;
}
