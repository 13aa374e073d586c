import { pubSubOf, type PubSub } from '../connections/pub-sub.ts';
import type { RedisClient, RedisConnections } from '../connections/redis.ts';

interface Subscription {
  readonly channel: string;
  holders: number;
  /** The acknowledgement, under way or had; null while there is none. */
  acknowledged: Promise<void> | null;
}

/** Channels per SUBSCRIBE after a reconnect. */
const BATCH = 500;

/** The channels of one connection, each subscribed once however many hold it, and again after every reconnect. */
export class RedisSubscriptions implements AsyncDisposable {
  readonly #client: RedisClient;
  readonly #pubSub: PubSub;
  readonly #onResumed: (channels: readonly string[]) => void;
  readonly #subscriptions = new Map<string, Subscription>();
  /** The last UNSUBSCRIBE; once it is answered so are those before it. */
  #left: Promise<unknown> = Promise.resolve();
  readonly #onReady = (): void => {
    this.#resume();
  };
  readonly #onClose = (): void => {
    for (const subscription of this.#subscriptions.values()) subscription.acknowledged = null;
  };

  /** @param onResumed these channels are subscribed again; what was said meanwhile has been missed. */
  constructor(
    redis: Pick<RedisConnections, 'subscriber' | 'isSharded'>,
    onResumed: (channels: readonly string[]) => void,
  ) {
    const { subscriber: client } = redis;
    this.#client = client;
    this.#pubSub = pubSubOf(redis);
    this.#onResumed = onResumed;
    client.on('ready', this.#onReady);
    client.on('close', this.#onClose);
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /**
   * Holds a channel; resolves once the server has acknowledged it. To be released once, also when this rejects because
   * the server cannot be reached.
   */
  async hold(channel: string): Promise<void> {
    let subscription = this.#subscriptions.get(channel);
    if (subscription === undefined) {
      subscription = { channel, holders: 0, acknowledged: null };
      this.#subscriptions.set(channel, subscription);
    }
    subscription.holders += 1;
    await (subscription.acknowledged ?? this.#subscribe([subscription]));
  }

  release(channel: string): void {
    const subscription = this.#subscriptions.get(channel);
    if (subscription === undefined) return;
    subscription.holders -= 1;
    if (subscription.holders > 0) return;
    this.#subscriptions.delete(channel);
    this.#unsubscribe([channel]);
  }

  /** Resolves once the server has let go of all channels. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.off('ready', this.#onReady);
    this.#client.off('close', this.#onClose);
    const channels = [...this.#subscriptions.keys()];
    this.#subscriptions.clear();
    // Without a channel UNSUBSCRIBE would end those of everybody else on this connection.
    if (channels.length > 0) this.#unsubscribe(channels);
    await this.#left;
  }

  #resume(): void {
    const subscriptions = [...this.#subscriptions.values()];
    for (let start = 0; start < subscriptions.length; start += BATCH) {
      const batch = subscriptions.slice(start, start + BATCH);
      this.#subscribe(batch).then(
        () => {
          this.#onResumed(batch.map(({ channel }) => channel));
        },
        // A new connection makes a new attempt; a refusal would be repeated.
        () => undefined,
      );
    }
  }

  async #subscribe(subscriptions: readonly Subscription[]): Promise<void> {
    const channels = subscriptions.map(({ channel }) => channel);
    const acknowledged = this.#pubSub.subscribe(this.#client, channels).then(() => undefined);
    for (const subscription of subscriptions) subscription.acknowledged = acknowledged;
    try {
      await acknowledged;
    } catch (error) {
      for (const subscription of subscriptions)
        if (subscription.acknowledged === acknowledged) subscription.acknowledged = null;
      // No answer in time: what the server will make of it is unknown, so start over.
      if (this.#client.status === 'ready' && !isRefusal(error)) this.#client.disconnect(true);
      throw error;
    }
  }

  #unsubscribe(channels: readonly string[]): void {
    // Fails only with the connection, and then the server has forgotten the channels on its own.
    this.#left = this.#pubSub.unsubscribe(this.#client, channels).catch(() => undefined);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
