import { pubSubOf, type PubSub, type RedisClient, type RedisConnections } from '../connections/redis.ts';

interface Subscription {
  readonly channel: string;
  holders: number;
  /** The acknowledgement, pending or received; `null` without a subscription. */
  acknowledged: Promise<void> | null;
}

/** Channels per SUBSCRIBE after a reconnect. */
const BATCH = 500;

/** Channels of one connection, each subscribed once for all its users, and again after every reconnect. */
export class RedisSubscriptions implements AsyncDisposable {
  readonly #client: RedisClient;
  readonly #pubSub: PubSub;
  readonly #onResumed: (channels: readonly string[]) => void;
  readonly #subscriptions = new Map<string, Subscription>();
  /** The last UNSUBSCRIBE; once it is answered, so are all earlier ones. */
  #left: Promise<unknown> = Promise.resolve();
  readonly #onReady = (): void => this.#resume();
  readonly #onClose = (): void => {
    for (const subscription of this.#subscriptions.values()) subscription.acknowledged = null;
  };

  /** @param onResumed these channels are subscribed again; messages in between were missed. */
  constructor(redis: RedisConnections, onResumed: (channels: readonly string[]) => void) {
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
   * Acquires a channel; resolves once the server has acknowledged it. Must be released once, even if this rejects because
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

  /** Resolves once the server has unsubscribed all channels. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.off('ready', this.#onReady);
    this.#client.off('close', this.#onClose);
    const channels = [...this.#subscriptions.keys()];
    this.#subscriptions.clear();
    // UNSUBSCRIBE without a channel would end those of everybody on this connection.
    if (channels.length > 0) this.#unsubscribe(channels);
    await this.#left;
  }

  #resume(): void {
    const subscriptions = [...this.#subscriptions.values()];
    for (let start = 0; start < subscriptions.length; start += BATCH) {
      const batch = subscriptions.slice(start, start + BATCH);
      this.#subscribe(batch).then(
        () => this.#onResumed(batch.map(({ channel }) => channel)),
        // A new connection retries; a refusal would only be repeated.
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
      // Timed out: the state at the server is unknown, so start over.
      if (this.#client.status === 'ready' && !isRefusal(error)) this.#client.disconnect(true);
      throw error;
    }
  }

  #unsubscribe(channels: readonly string[]): void {
    // Fails only with the connection, and then the server has dropped the channels anyway.
    this.#left = this.#pubSub.unsubscribe(this.#client, channels).catch(() => undefined);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
