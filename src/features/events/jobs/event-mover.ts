import type { Context } from '../../../feed/context.ts';
import type { HostEvent } from '../../../domain/host-event.ts';
import { RECEIVER_REMOVED, RECEIVER_REMOVED_AFTER_MS } from '../../../domain/webhook.ts';
import { clock } from '../../../lib/clock.ts';
import type { Next } from '../../../lib/poll-loop.ts';
import { BackgroundWorker, type BackgroundWorkerOptions } from '../../../jobs/background-worker.ts';

export interface EventMoverOptions extends BackgroundWorkerOptions {
  /** The log has new events. */
  readonly onMoved: () => void;
  readonly onError: (error: unknown) => void;
  readonly workerId: string;
  readonly leaseMs: number;
  readonly retentionMs: number;
  /** The receivers of webhooks in the settings of this process. */
  readonly receiverUrls: readonly string[];
  /** Delay of a reminder after a delivery, and the minimum time between two; `null`: never. */
  readonly digests: { readonly afterMs: number; readonly everyMs: number } | null;
}

const BATCH = 500;
/** A busy server writes events all the time, and a round costs the same for one as for hundreds. The first does not wait. */
const APART_MS = 250;
const PURGE_EVERY_MS = 60_000;

/**
 * Moves events from the documents they were written with to the log, where they are numbered; one process at a time. Safe to
 * interrupt and to repeat by any process: no event is lost or duplicated.
 */
export class EventMover extends BackgroundWorker {
  readonly #context: Context;
  readonly #options: EventMoverOptions;
  #purgeAt = 0;
  #nextRoundAt = 0;
  #hasLease = false;
  #extendAt = 0;

  constructor(context: Context, options: EventMoverOptions) {
    super(options);
    this.#context = context;
    this.#options = options;
  }

  /** Moves a batch. Returns false when there is no more, or when another process is active. */
  async round(now: Date): Promise<boolean> {
    const { eventSources, hostEvents } = this.#context;
    const { workerId, leaseMs } = this.#options;
    // Correctness does not depend on the lease, so it is not extended in every round.
    if (!this.#hasLease || performance.now() >= this.#extendAt) {
      this.#extendAt = performance.now() + leaseMs / 3;
      this.#hasLease = await hostEvents.lease(workerId, now, leaseMs);
    }
    if (!this.#hasLease) return false;
    await this.#purge(now);
    const batch = await eventSources.read(now, BATCH);
    if (batch.events.length === 0) return false;
    await hostEvents.append(batch.events, now);
    this.#options.onMoved();
    await this.#noteDigests(batch.events, now);
    await batch.taken();
    return batch.hasMore;
  }

  get hasLease(): boolean {
    return this.#hasLease;
  }

  override async stop(): Promise<void> {
    await super.stop();
    if (this.#hasLease) await this.#context.hostEvents.release(this.#options.workerId);
  }

  protected override async work(): Promise<Next> {
    const waitMs = this.#nextRoundAt - performance.now();
    if (waitMs > 0) return waitMs;
    const startedAt = performance.now();
    const hasMore = await this.round(clock.now());
    if (!hasMore) this.#nextRoundAt = startedAt + Math.min(APART_MS, this.#options.pollMs);
    return hasMore;
  }

  protected override failed(error: unknown): void {
    this.#options.onError(error);
  }

  /** Runs before the events are removed from their source, so that an interruption repeats it. */
  async #noteDigests(events: readonly HostEvent[], now: Date): Promise<void> {
    const { digests } = this.#options;
    if (digests === null) return;
    const readers = new Set(
      events.flatMap(({ facts }) => facts.readers ?? []).map(({ memberId }) => memberId),
    );
    const dueAt = new Date(now.getTime() + digests.afterMs);
    await this.#context.digests.note([...readers], { dueAt, everyMs: digests.everyMs });
  }

  async #purge(now: Date): Promise<void> {
    if (performance.now() < this.#purgeAt) return;
    const { hostEvents, webhookDeliveries, webhookReceivers } = this.#context;
    const { retentionMs } = this.#options;
    const before = new Date(now.getTime() - retentionMs);
    const { purged, upTo } = await hostEvents.purge(before, BATCH);
    // Deletes deliveries of deleted events, including those left by an interrupted round.
    await webhookDeliveries.purge(upTo ?? (await hostEvents.range()).deletedUpTo);
    await this.#giveUpRemoved(now);
    // Later, so that a receiver that comes back is still told what it missed.
    await webhookReceivers.forget(new Date(before.getTime() - retentionMs));
    if (purged < BATCH) this.#purgeAt = performance.now() + PURGE_EVERY_MS;
  }

  /** Nobody sends to a receiver that is in the settings of no process. */
  async #giveUpRemoved(now: Date): Promise<void> {
    const { webhookDeliveries, webhookReceivers } = this.#context;
    const seen = await webhookReceivers.seenSince(new Date(now.getTime() - RECEIVER_REMOVED_AFTER_MS));
    await webhookDeliveries.giveUpOthers([...this.#options.receiverUrls, ...seen], RECEIVER_REMOVED);
  }
}
