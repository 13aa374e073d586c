import { pubSubOf, type PubSub, type RedisClient, type RedisConnections } from '../connections/redis.ts';

interface RedisChannelOptions {
  readonly redis: RedisConnections;
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  /** The channel is subscribed again; messages in between were missed. */
  readonly onResumed: () => void;
}

/** One channel, subscribed while somebody holds it, and again after every reconnect. */
export class RedisChannel implements AsyncDisposable {
  readonly #options: RedisChannelOptions;
  readonly #client: RedisClient;
  readonly #pubSub: PubSub;
  #holders = 0;
  /** The acknowledgement, pending or received; `null` without a subscription. */
  #acknowledged: Promise<void> | null = null;
  /** The last UNSUBSCRIBE; once it is answered, so are all earlier ones. */
  #left: Promise<unknown> = Promise.resolve();
  readonly #onReady = (): void => {
    // If it fails, a new connection retries; a refusal would only be repeated.
    if (this.isHeld) this.#subscribe().then(this.#options.onResumed, () => undefined);
  };
  readonly #onClose = (): void => {
    this.#acknowledged = null;
  };
  readonly #onText = (channel: string, message: string): void => {
    if (channel === this.#options.channel) this.#options.onMessage(message);
  };

  constructor(options: RedisChannelOptions) {
    this.#options = options;
    this.#client = options.redis.subscriber;
    this.#pubSub = pubSubOf(options.redis);
    this.#client.on('ready', this.#onReady).on('close', this.#onClose).on(this.#pubSub.event, this.#onText);
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Resolves once the server has acknowledged the channel. To be released once, even if this rejects without a server. */
  async hold(): Promise<void> {
    this.#holders += 1;
    await (this.#acknowledged ?? this.#subscribe());
  }

  release(): void {
    this.#holders -= 1;
    if (!this.isHeld) this.#leave();
  }

  /** Resolves once the server has unsubscribed the channel. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#client
      .off('ready', this.#onReady)
      .off('close', this.#onClose)
      .off(this.#pubSub.event, this.#onText);
    if (this.isHeld) this.#leave();
    this.#holders = 0;
    await this.#left;
  }

  #leave(): void {
    this.#acknowledged = null;
    // Fails only with the connection, and then the server has dropped the channel anyway.
    this.#left = this.#pubSub.unsubscribe(this.#client, [this.#options.channel]).catch(() => undefined);
  }

  async #subscribe(): Promise<void> {
    const acknowledged = this.#pubSub.subscribe(this.#client, [this.#options.channel]).then(() => undefined);
    this.#acknowledged = acknowledged;
    try {
      await acknowledged;
    } catch (error) {
      if (this.#acknowledged === acknowledged) this.#acknowledged = null;
      // Timed out: the state at the server is unknown, so start over.
      if (this.#client.status === 'ready' && !isRefusal(error)) this.#client.disconnect(true);
      throw error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
