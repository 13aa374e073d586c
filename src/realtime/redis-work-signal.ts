import { pubSubOf } from '../connections/pub-sub.ts';
import type { RedisLink } from './redis-link.ts';
import { workChannel } from './redis-live-keys.ts';
import { RedisSubscriptions } from './redis-subscriptions.ts';
import { WakeUps } from './wake-ups.ts';
import type { WorkSignal } from './work-signal.ts';

/** Wake-ups of all processes on one Redis. Those of this process arrive even without Redis. */
export class RedisWorkSignal implements WorkSignal {
  readonly #redis: RedisLink['redis'];
  readonly #channel: string;
  readonly #onTrouble: (what: string, error: unknown) => void;
  readonly #wakeUps: WakeUps;
  #subscriptions: RedisSubscriptions | null = null;
  #sending: Promise<void> | null = null;
  #isDue = false;

  readonly #onMessage = (channel: string): void => {
    if (channel === this.#channel) this.#wakeUps.wake();
  };

  constructor(options: RedisLink) {
    this.#redis = options.redis;
    this.#channel = workChannel(options.prefix);
    this.#onTrouble = options.onTrouble ?? (() => undefined);
    this.#wakeUps = new WakeUps((error) => {
      this.#onTrouble('wake a worker', error);
    });
  }

  notify(): void {
    this.#wakeUps.wake();
    this.#isDue = true;
    this.#sending ??= this.#send();
  }

  onWork(callback: () => void): Disposable {
    this.#listen();
    return this.#wakeUps.add(callback);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wakeUps.clear();
    this.#redis.subscriber.off(pubSubOf(this.#redis).event, this.#onMessage);
    await this.#subscriptions?.[Symbol.asyncDispose]();
    this.#subscriptions = null;
    await this.#sending;
  }

  #listen(): void {
    if (this.#subscriptions !== null) return;
    // Signals may have been lost while the connection was down: look once.
    this.#subscriptions = new RedisSubscriptions(this.#redis, () => {
      this.#wakeUps.wake();
    });
    this.#redis.subscriber.on(pubSubOf(this.#redis).event, this.#onMessage);
    this.#subscriptions.hold(this.#channel).catch((error: unknown) => {
      this.#onTrouble('listen for work', error);
    });
  }

  async #send(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      try {
        await pubSubOf(this.#redis).publish(this.#redis.commands, this.#channel, '');
      } catch (error) {
        this.#onTrouble('tell other workers', error);
      }
    }
    this.#sending = null;
  }
}
