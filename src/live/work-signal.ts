import { randomUUID } from 'node:crypto';
import { pubSubOf } from '../connections/redis.ts';
import { within } from '../lib/within.ts';
import { type RedisLink, takenKey, workChannel } from './redis-live-wire.ts';
import { RedisChannel } from './redis-channel.ts';

/** How long Redis remembers who took an offer. A worker that asks later polls once without need. */
const TAKEN_MS = 10_000;
const PATIENCE_MS = 250;

const KINDS: readonly DueWork[] = ['fan-out', 'rebuild', 'events'];
/** Every worker polls. */
const OFFER_TO_ALL: WorkOffer = { take: () => Promise.resolve(true) };

/**
 * Wake-ups of all processes on one Redis. Those of this process arrive even without Redis. Each message has an id; the first
 * worker that sets its key has taken the offer.
 */
export class RedisWorkSignal implements WorkSignal {
  readonly #redis: RedisLink['redis'];
  readonly #prefix: string;
  readonly #channel: RedisChannel;
  readonly #patienceMs: number;
  readonly #onTrouble: (what: string, error: unknown) => void;
  readonly #listeners: WorkListeners;
  readonly #process = randomUUID();
  #offers = 0;
  #sending: Promise<void> | null = null;
  /** Ids of the latest offers that are still to be sent. */
  readonly #unsent = new Map<DueWork, string>();
  /** Ids of offers that are about to be passed to the listeners of this process. */
  readonly #announced = new Map<DueWork, string>();

  readonly #onMessage = (message: string): void => {
    const [kind, id] = message.split(' ');
    const work = KINDS.find((one) => one === kind);
    // A message of another form: every worker polls.
    if (work === undefined || id === undefined) this.#listeners.offer(null, OFFER_TO_ALL);
    else if (!id.startsWith(this.#process)) this.#listeners.offer(work, this.#offerOf(id));
  };

  /** @param options.patienceMs how long a worker waits for Redis before it polls anyway; default 250 */
  constructor(options: RedisLink & { readonly patienceMs?: number }) {
    this.#redis = options.redis;
    this.#prefix = options.prefix;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#channel = new RedisChannel({
      redis: options.redis,
      channel: workChannel(options.prefix),
      onMessage: this.#onMessage,
      // Signals may have been lost while the connection was down: poll once.
      onResumed: () => this.#listeners.offer(null, OFFER_TO_ALL),
    });
    this.#onTrouble = options.onTrouble ?? (() => undefined);
    this.#listeners = new WorkListeners((error) => this.#onTrouble('wake a worker', error));
  }

  notify(work: DueWork): void {
    let id = this.#announced.get(work);
    if (id === undefined) {
      id = this.#newId();
      this.#announced.set(work, id);
      setImmediate(() => this.#announced.delete(work));
      this.#listeners.offer(work, this.#offerOf(id));
    }
    this.#publish(work, id);
  }

  onWork(work: DueWork | 'any', callback: (offer: WorkOffer) => void): WorkListener {
    this.#listen();
    const listener: LocalListener = { work, call: callback };
    return this.#listeners.add(listener, () => {
      for (const kind of work === 'any' ? KINDS : [work]) {
        const id = this.#newId();
        this.#listeners.offer(kind, this.#offerOf(id), listener);
        this.#publish(kind, id);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    await this.#channel[Symbol.asyncDispose]();
    await this.#sending;
  }

  #newId(): string {
    return `${this.#process}-${String(++this.#offers)}`;
  }

  #listen(): void {
    if (this.#channel.isHeld) return;
    this.#channel.hold().catch((error: unknown) => this.#onTrouble('listen for work', error));
  }

  /** Only the latest unsent offer is sent: the worker that takes it polls after all earlier ones were made. */
  #publish(work: DueWork, id: string): void {
    this.#unsent.set(work, id);
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    for (let [next] = this.#unsent; next !== undefined; [next] = this.#unsent) {
      this.#unsent.delete(next[0]);
      try {
        await pubSubOf(this.#redis).publish(this.#redis.commands, workChannel(this.#prefix), next.join(' '));
      } catch (error) {
        this.#onTrouble('tell other workers', error);
      }
    }
    this.#sending = null;
  }

  #offerOf(id: string): WorkOffer {
    return {
      take: async (isBusy) => {
        try {
          return await within(this.#patienceMs, this.#take(id, isBusy), true);
        } catch (error) {
          this.#onTrouble('ask who takes the work', error);
          return true;
        }
      },
    };
  }

  /** The question of a busy worker takes a round trip longer, in which others may take the offer. */
  async #take(id: string, isBusy: boolean): Promise<boolean> {
    const { commands } = this.#redis;
    const key = takenKey(this.#prefix, id);
    if (isBusy && (await commands.exists(key)) === 1) return false;
    return (await commands.set(key, '', 'PX', TAKEN_MS, 'NX')) !== null;
  }
}

export class MemoryWorkSignal implements WorkSignal {
  readonly #listeners: WorkListeners;
  /** Announced, but not yet passed to the listeners: one call is enough. */
  readonly #announced = new Set<DueWork>();

  /** @param options.onTrouble called when a callback throws. */
  constructor(options: { readonly onTrouble?: (what: string, error: unknown) => void } = {}) {
    this.#listeners = new WorkListeners((error) => options.onTrouble?.('wake a worker', error));
  }

  notify(work: DueWork): void {
    if (this.#announced.has(work)) return;
    this.#announced.add(work);
    setImmediate(() => this.#announced.delete(work));
    this.#listeners.offer(work, offerToOne());
  }

  onWork(work: DueWork | 'any', callback: (offer: WorkOffer) => void): WorkListener {
    const listener: LocalListener = { work, call: callback };
    return this.#listeners.add(listener, () => {
      this.#listeners.offer(work === 'any' ? null : work, offerToOne(), listener);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    return Promise.resolve();
  }
}

function offerToOne(): WorkOffer {
  let isTaken = false;
  return {
    take: () => {
      const isFirst = !isTaken;
      isTaken = true;
      return Promise.resolve(isFirst);
    },
  };
}

export interface LocalListener {
  readonly work: DueWork | 'any';
  readonly call: (offer: WorkOffer) => void;
}

/** The listeners of one process. They are called asynchronously. */
export class WorkListeners {
  readonly #listeners = new Set<LocalListener>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @param passOn announces the same kind of work to everybody but this listener. */
  add(listener: LocalListener, passOn: () => void): WorkListener {
    this.#listeners.add(listener);
    return { passOn, [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** @param work `null`: unknown, so all listeners are called. @param except who is not called. */
  offer(work: DueWork | null, offer: WorkOffer, except: LocalListener | null = null): void {
    setImmediate(() => {
      for (const listener of [...this.#listeners]) {
        if (listener === except) continue;
        if (work !== null && listener.work !== 'any' && listener.work !== work) continue;
        try {
          listener.call(offer);
        } catch (error) {
          this.#onError(error);
        }
      }
    });
  }

  clear(): void {
    this.#listeners.clear();
  }
}

/** The kinds of work that may be due: fan-outs of actions, rebuilds of feeds, or events that were moved to the log. */
export type DueWork = 'fan-out' | 'rebuild' | 'events';

/** An announcement that work is due. */
export interface WorkOffer {
  /**
   * Whether this worker should poll now. True for the first worker of all processes that asks; true for all if Redis does not
   * answer, since a needless poll costs little, and work that nobody polls for waits until the next interval.
   * @param isBusy lets workers without work ask first
   */
  take(isBusy: boolean): Promise<boolean>;
}

export interface WorkListener extends Disposable {
  /** Announces the same kind of work to everybody else. */
  passOn(): void;
}

/** An optimisation only: a lost signal costs a poll interval, never work. No method throws while the transport is down. */
export interface WorkSignal extends AsyncDisposable {
  /** Announces work to the workers of all processes. Does not wait. */
  notify(work: DueWork): void;
  /**
   * Calls back for announcements of this kind, or of any kind, until disposed. Several may arrive as one, and one may arrive
   * twice. Every listener is called; if one worker is enough, they ask the offer which of them should poll.
   */
  onWork(work: DueWork | 'any', callback: (offer: WorkOffer) => void): WorkListener;
}
