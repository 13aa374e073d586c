import type { UserId } from '../domain/action.ts';
import { pubSubOf } from '../connections/pub-sub.ts';
import { OpenSessions } from './open-sessions.ts';
import type { RedisLink } from './redis-link.ts';
import { endedChannel } from './redis-live-keys.ts';
import { asUnavailable } from './redis-live-store.ts';
import { RedisSubscriptions } from './redis-subscriptions.ts';
import type { SessionEnds } from './session-ends.ts';

export interface RedisSessionEndsOptions extends RedisLink {
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
  readonly #channel: string;
  readonly #open = new OpenSessions();
  #subscriptions: RedisSubscriptions | null = null;
  #asking: Promise<void> | null = null;
  #isToAsk = false;
  #again: NodeJS.Timeout | null = null;
  #closed = false;

  readonly #onMessage = (channel: string, userId: string): void => {
    if (channel === this.#channel) this.#open.end(userId);
  };

  constructor(options: RedisSessionEndsOptions) {
    this.#options = options;
    this.#channel = endedChannel(options.prefix);
  }

  async endSessions(userId: UserId): Promise<void> {
    try {
      const { redis } = this.#options;
      await pubSubOf(redis).publish(redis.commands, this.#channel, userId);
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
    const { redis } = this.#options;
    redis.subscriber.off(pubSubOf(redis).event, this.#onMessage);
    await this.#subscriptions?.[Symbol.asyncDispose]();
    await this.#asking;
  }

  #listen(): void {
    if (this.#subscriptions !== null) return;
    const { redis } = this.#options;
    const ask = (): void => {
      this.#ask();
    };
    this.#subscriptions = new RedisSubscriptions(redis, ask);
    redis.subscriber.on(pubSubOf(redis).event, this.#onMessage);
    // If it fails, it is repeated with the next connection, which also queries.
    this.#subscriptions.hold(this.#channel).then(ask, (error: unknown) => {
      this.#options.onTrouble?.('listen for ended sessions', error);
    });
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
