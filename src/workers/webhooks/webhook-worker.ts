import type { WebhookReceiver } from '../../domain/webhook.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../background-worker.ts';
import { holdLease, type Lease } from '../fan-out/lease.ts';
import { Turns } from './in-turns.ts';
import { ReceiverHealth, type HealthObserver } from './receiver-health.ts';
import { retryDue, type RetryObserver, type RetryTo } from './retry-due.ts';
import { sendNew } from './send-new.ts';
import { WebhookSender, type Sending } from './webhook-sender.ts';
import type { Context } from '../../feeds/context.ts';

/** Events about one receiver, for admins and metrics. */
export type WebhookObserver = HealthObserver &
  Sending['observer'] &
  RetryObserver & {
    /** The receiver fell so far behind that events it has not been sent have expired. */
    skipped(events: number): void;
    /** How many numbers of the log it is behind; null: another process sends to it. */
    behind(events: number | null): void;
    failed(error: unknown): void;
  };

export interface WebhookWorkerOptions extends BackgroundWorkerOptions, Sending {
  readonly observer: WebhookObserver;
  readonly receiver: WebhookReceiver;
  readonly workerId: string;
  readonly leaseMs: number;
  readonly retryForMs: number;
  /** How long a round waits for its last requests, in milliseconds. Default: 250. */
  readonly slowAfterMs?: number;
}

const BATCH = 100;
const SLOW_AFTER_MS = 250;
/** Events of one receiver that wait for another attempt; with more, the log is not read on. */
const MAX_RETRYING = 1_000;

/**
 * Sends events to one receiver, in any number of processes: one at a time has its lease. Each receiver has a worker of its
 * own, with connections of its own, so none waits for another one.
 *
 * A request that is not answered at once is put off like one that failed, and goes on beside later rounds until it ends: it
 * holds one of the receiver's places.
 *
 * New events are read from the log behind a number that is stored for the receiver. It moves on once every event up to it
 * was taken or is stored as a delivery, which is tried again by its own clock. So an event is sent at least once, under one
 * id, whatever dies in between. A receiver that is down is not sent anything new: that waits in the log.
 */
export class WebhookWorker extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: WebhookWorkerOptions;
  readonly #health: ReceiverHealth;
  readonly #stopping = new AbortController();
  readonly #turns: Turns;
  #hasLease = false;

  constructor(context: Context, options: WebhookWorkerOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
    this.#health = new ReceiverHealth(options.observer);
    this.#turns = new Turns(options.slowAfterMs ?? SLOW_AFTER_MS, (error) => {
      if (error !== null) this.failed(error);
      this.wake();
    });
  }

  /**
   * Sends what is due and what is new, up to a batch of each. False: there was no more, or another process has the lease.
   */
  async round(): Promise<boolean> {
    const { webhookReceivers, hostEvents } = this.#context;
    const { workerId, leaseMs, retryForMs, receiver, now, observer } = this.#options;
    const { url } = receiver;
    const seq = await webhookReceivers.lease(
      url,
      { worker: workerId, now: now(), leaseMs },
      async () => (await hostEvents.range()).last,
    );
    this.#hasLease = seq !== null;
    if (seq === null) {
      observer.behind(null);
      return false;
    }
    using lease = holdLease(
      () => webhookReceivers.extend(url, workerId, new Date(now().getTime() + leaseMs)),
      leaseMs,
    );
    const sender = this.#senderUnder(lease);
    const to = { receiver, sender, retryForMs, now, observer, turns: this.#turns };
    const hasTried = await retryDue(this.#context, to, BATCH);
    const hasMoved = await this.#goOn(to, seq);
    return (hasTried || hasMoved) && !this.isStopping;
  }

  /** What is under way is ended, and sent again by the process that has the lease next. */
  override async stop(): Promise<void> {
    const stopped = super.stop();
    this.#stopping.abort();
    await stopped;
    await this.#turns.ended();
    const { webhookReceivers } = this.#context;
    this.#options.client[Symbol.dispose]();
    if (this.#hasLease) await webhookReceivers.release(this.#options.receiver.url, this.#options.workerId);
  }

  protected override work(): Promise<boolean> {
    return this.round();
  }

  protected override failed(error: unknown): void {
    this.#options.observer.failed(error);
  }

  #senderUnder(lease: Lease): WebhookSender {
    const { signal } = this.#stopping;
    return new WebhookSender(this.#context, {
      ...this.#options,
      health: this.#health,
      signal,
      maySend: async () => !signal.aborted && (await lease.isHeld()),
    });
  }

  /** Sends what is new behind a number. False: there was nothing, or it may not be sent. */
  async #goOn(to: RetryTo & { readonly turns: Turns }, seq: number): Promise<boolean> {
    const { hostEvents, webhookReceivers } = this.#context;
    const { receiver, workerId, observer } = this.#options;
    const { url, types, tenant } = receiver;
    const { deletedUpTo, last } = await hostEvents.range();
    const after = Math.max(seq, deletedUpTo);
    if (after > seq) observer.skipped(after - seq);
    observer.behind(Math.max(0, last - after));
    const limit = last > after ? await this.#room() : 0;
    if (limit === 0) return false;
    const { events, isCut } = await hostEvents.page({ tenant, after, upTo: last, types, limit });
    const left = await sendNew(this.#context, { ...to, health: this.#health }, events);
    const reached = isCut || events.length === limit ? (events.at(-1)?.seq ?? after) : last;
    const end = left === null ? reached : left - 1;
    if (end <= seq) return false;
    this.#hasLease = await webhookReceivers.advance(url, workerId, end);
    observer.behind(Math.max(0, last - end));
    return this.#hasLease;
  }

  /** How many new events may be sent. One that is down is tried with one, unless others wait by which it is tried. */
  async #room(): Promise<number> {
    const { webhookDeliveries } = this.#context;
    const retrying = await webhookDeliveries.countRetrying(this.#options.receiver.url, MAX_RETRYING);
    if (this.#health.isDown) return retrying === 0 ? 1 : 0;
    return Math.min(BATCH, MAX_RETRYING - retrying);
  }
}
