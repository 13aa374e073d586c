import { hostEventsRepository } from '../../events/src/store/host-events.ts';
import { MAX_RETRY_AFTER_MS, retryDelayMs } from '../../../src/domain/signature.ts';
import { webhookMetrics } from './metrics.ts';
import type { WebhookReceiver } from './receivers.ts';
import { WEBHOOKS } from './settings.ts';
import {
  RECEIVER_REMOVED,
  RECEIVER_REMOVED_AFTER_MS,
  refusalOf,
  type WebhookDelivery,
  webhookPayload,
} from './webhook.ts';
import type { Job, JobSetup, Round } from '../../../src/jobs/job.ts';
import { holdLease } from '../../../src/fan-out/passes.ts';
import type { Context } from '../../../src/feed/context.ts';
import type { NumberedHostEvent } from '../../../src/domain/host-event.ts';
import { type ParkedEvent, webhookDeliveriesRepository, webhookReceiversRepository } from './store.ts';
import type { PostOutcome } from '../../../src/connections/post-client.ts';
import { senderTo, type Sender } from './sender.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { WorkSignal } from '../../../src/live/work-signal.ts';
import { logWebhookBack, logWebhookDown, logWebhookGivenUp, logWebhookSkipped } from './log.ts';
import { viewHostEvents } from '../../../src/features/erasure/store/erasures.ts';
import type { ActionId } from '../../../src/domain/action.ts';
import { Gate } from '../../../src/lib/gate.ts';
import { within } from '../../../src/lib/within.ts';

interface HealthObserver {
  /** So many consecutive attempts failed that no new events are sent to it. */
  down(error: string): void;
  up(): void;
}

/** Consecutive failures after which a receiver counts as down. */
const DOWN_AFTER = 10;

/** Whether a receiver accepts anything, as observed by this process. */
class ReceiverHealth {
  readonly #observer: HealthObserver;
  #failures = 0;

  constructor(observer: HealthObserver) {
    this.#observer = observer;
  }

  get isDown(): boolean {
    return this.#failures >= DOWN_AFTER;
  }

  /** Records an attempt. Returns true when a receiver that was down is back. */
  note(outcome: PostOutcome): boolean {
    const before = this.#failures;
    if (!outcome.isTaken) {
      this.#failures += 1;
      if (this.#failures === DOWN_AFTER) this.#observer.down(outcome.error);
      return false;
    }
    this.#failures = 0;
    if (before < DOWN_AFTER) return false;
    this.#observer.up();
    return true;
  }
}

type SendResult =
  | 'taken'
  /** Not sent, because this process may not send any more. */
  | 'unsent'
  | { readonly error: string; readonly nextAttemptAt: Date };

/** For what is done between the end of a request and the record of how it ended. */
const ANSWER_SLACK_MS = 5_000;

/** Events about one receiver, for admins and metrics. */
export interface WebhookObserver extends HealthObserver {
  attempted(isTaken: boolean, seconds: number): void;
  givenUp(given: { readonly eventId: string; readonly attempts: number; readonly error: string }): void;
  /** The receiver fell so far behind that events it has not been sent have expired. */
  skipped(events: number): void;
  /** How many numbers of the log it is behind; null: another process sends to it. */
  behind(events: number | null): void;
}

export interface WebhookJobOptions {
  readonly name: string;
  readonly sender: Sender;
  readonly now: () => Date;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly observer: WebhookObserver;
  readonly receiver: WebhookReceiver;
  readonly workerId: string;
  readonly leaseMs: number;
  /** Milliseconds between two rounds when nothing wakes it. */
  readonly every: number;
  /** Wakes it when there is something new. */
  readonly eventsMoved?: WorkSignal;
  readonly retryForMs: number;
  /** How long a round waits for its last requests, in milliseconds. Default: 250. */
  readonly slowAfterMs?: number;
}

const BATCH = 100;
const SLOW_AFTER_MS = 250;
/** Events of one receiver that wait for another attempt; with more, the log is not read on. */
const MAX_RETRYING = 1_000;

const CLEAN_EVERY_MS = 60_000;
/** The events of a receiver wait for a process that had its lease and was killed, so it is short. */
const LEASE_MS = 3_000;

/** Sends events to each receiver in the settings, and removes what is stored of those that are not. */
export function webhooks(setup: JobSetup): readonly Job[] {
  const { core, config, workerId, logger, metrics, eventsMoved } = setup;
  const { retentionMs } = config.events;
  const { pollMs } = config.fanOut;
  const leaseMs = Math.min(LEASE_MS, config.fanOut.leaseMs);
  const { receivers, timeoutMs, retryForMs } = config.of(WEBHOOKS);
  if (retentionMs === null) return [];
  const jobs = receivers.map((receiver) => {
    const name = nameOf(receiver, receivers);
    return webhookJob(core, {
      sender: senderTo(receiver, { timeoutMs, maxConnections: CONCURRENT_REQUESTS }),
      ...{ receiver, workerId, leaseMs, retryForMs, eventsMoved, random: Math.random },
      ...{ name: `webhooks to ${name}`, every: pollMs, now: () => clock.now() },
      observer: observerOf(name, logger, metrics.of(webhookMetrics)),
    });
  });
  return [webhookRecords(setup, retentionMs), ...jobs];
}

/** Ends what waits for receivers that are in no settings, and deletes what belongs to events that are not kept any longer. */
function webhookRecords({ core, config }: JobSetup, retentionMs: number): Job {
  const hostEvents = hostEventsRepository(core.collections);
  const webhookDeliveries = webhookDeliveriesRepository(core.collections);
  const webhookReceivers = webhookReceiversRepository(core.collections);
  const urls = config.of(WEBHOOKS).receivers.map(({ url }) => url);
  return {
    name: 'webhook records',
    every: CLEAN_EVERY_MS,
    async run({ now }) {
      await webhookDeliveries.purge((await hostEvents.range()).deletedUpTo);
      // Nobody sends to a receiver that is in the settings of no process.
      const seen = await webhookReceivers.seenSince(new Date(now.getTime() - RECEIVER_REMOVED_AFTER_MS));
      await webhookDeliveries.giveUpOthers([...urls, ...seen], RECEIVER_REMOVED);
      // Later than its events, so that a receiver that comes back is still told what it missed.
      await webhookReceivers.forget(new Date(now.getTime() - 2 * retentionMs));
      return false;
    },
  };
}

/** Name of a receiver in logs and metrics. Omits path and query, which may contain secrets. */
function nameOf({ url }: WebhookReceiver, receivers: readonly WebhookReceiver[]): string {
  const { host } = new URL(url);
  const namesakes = receivers.filter((other) => new URL(other.url).host === host);
  const place = namesakes.findIndex((other) => other.url === url);
  return place === 0 ? host : `${host}#${String(place + 1)}`;
}

function observerOf(
  receiver: string,
  logger: JobSetup['logger'],
  { webhookAttempted, webhookGivenUp, webhookBehind }: ReturnType<typeof webhookMetrics>,
): WebhookObserver {
  return {
    attempted(isTaken, seconds) {
      webhookAttempted({ receiver, isTaken, seconds });
    },
    down(error) {
      logWebhookDown(logger, { receiver, error });
    },
    up() {
      logWebhookBack(logger, { receiver });
    },
    givenUp(delivery) {
      webhookGivenUp(receiver);
      logWebhookGivenUp(logger, { receiver, ...delivery });
    },
    skipped(events) {
      logWebhookSkipped(logger, { receiver, events });
    },
    behind(events) {
      webhookBehind(receiver, events);
    },
  };
}

/**
 * Sends events to one receiver, in any number of processes: one at a time has its lease. Each receiver has a job of its own,
 * with connections of its own, so none waits for another one.
 *
 * A request that is not answered at once is put off like one that failed, and goes on beside later rounds until it ends: it
 * holds one of the receiver's places.
 *
 * New events are read from the log behind a number that is stored for the receiver. It moves on once every event up to it
 * was taken or is stored as a delivery, which is tried again by its own clock. So an event is sent at least once, under one
 * id, whatever dies in between. A receiver that is down is not sent anything new: that waits in the log.
 */
export function webhookJob(core: Context, options: WebhookJobOptions): Job {
  const hostEvents = hostEventsRepository(core.collections);
  const webhookReceivers = webhookReceiversRepository(core.collections);
  const { workerId, leaseMs, receiver, now, observer, eventsMoved } = options;
  const { url } = receiver;
  const health = new ReceiverHealth(observer);
  let hasLease = false;
  let latest: Round | null = null;
  const turns = new Turns(options.slowAfterMs ?? SLOW_AFTER_MS, (error) => {
    if (error !== null) latest?.failed(error);
    latest?.wake();
  });

  return {
    name: options.name,
    every: options.every,
    ...(eventsMoved === undefined ? {} : { wokenBy: { signal: eventsMoved, work: 'events' } }),
    async run(round) {
      const { signal } = round;
      latest = round;
      const seq = await webhookReceivers.lease(
        url,
        { token: workerId, now: now(), leaseMs },
        async () => (await hostEvents.range()).last,
      );
      hasLease = seq !== null;
      if (seq === null) {
        observer.behind(null);
        return false;
      }
      using lease = holdLease(
        () => webhookReceivers.extend(url, workerId, new Date(now().getTime() + leaseMs)),
        leaseMs,
      );
      const maySend = async (): Promise<boolean> => !signal.aborted && (await lease.isHeld());
      const sending = new SendingRound(core, { ...options, health, turns, signal, maySend });
      const hasTried = await sending.retryDue();
      const end = await sending.sendNew(seq);
      if (end !== null) {
        hasLease = await webhookReceivers.advance(url, workerId, end);
        observer.behind(Math.max(0, sending.last - end));
      }
      return (hasTried || (end !== null && hasLease)) && !signal.aborted;
    },
    /** Requests under way are ended, and sent again by the process that has the lease next. */
    async close() {
      await turns.ended();
      await options.sender[Symbol.asyncDispose]();
      if (hasLease) await webhookReceivers.release(url, workerId);
    },
  };
}

interface SendingOptions extends WebhookJobOptions {
  readonly health: ReceiverHealth;
  readonly turns: Turns;
  readonly signal: AbortSignal;
  readonly maySend: () => Promise<boolean>;
}

/** One round of sending to one receiver, events in their current form: members erased since are not named. */
class SendingRound {
  readonly #core: Context;
  readonly #deliveries: ReturnType<typeof webhookDeliveriesRepository>;
  readonly #to: SendingOptions;
  readonly #url: string;
  /** Number of the last event in the log. */
  last = 0;

  constructor(core: Context, to: SendingOptions) {
    this.#core = core;
    this.#deliveries = webhookDeliveriesRepository(core.collections);
    this.#to = to;
    this.#url = to.receiver.url;
  }

  /**
   * Retries due deliveries up to a limit; those of one action in order, until one fails. What the receiver is not configured for
   * any more is not sent but given up. Returns false when none was due.
   */
  async retryDue(): Promise<boolean> {
    const hostEvents = hostEventsRepository(this.#core.collections);
    const { receiver, turns, now, observer } = this.#to;
    const due = await this.#deliveries.due(this.#url, now(), BATCH);
    const events = await hostEvents.byIds(due.map(({ eventId }) => eventId));
    const work = async (turn: Turn<WebhookDelivery>): Promise<void> => {
      const deliveries = turn.left;
      for (const [index, delivery] of deliveries.entries()) {
        turn.left = deliveries.slice(index);
        const { eventId, attempts } = delivery;
        const event = events.get(eventId);
        const refusal = event === undefined ? null : refusalOf(receiver, event);
        if (refusal !== null) {
          await this.#deliveries.giveUp(delivery, refusal, attempts);
          observer.givenUp({ eventId, attempts, error: refusal });
          continue;
        }
        const result = event === undefined ? 'taken' : await this.#send(event, attempts);
        const isLate = turn.late !== null;
        await turn.late;
        if (!(await this.#conclude(delivery, result, isLate)) || isLate) return;
      }
    };
    await turns.run(due, {
      placeOf: (delivery) => delivery,
      work,
      putOff: (some) => this.#deliveries.putOff(some, this.#answeredBy()),
    });
    return due.length > 0;
  }

  /**
   * Sends what is new behind a number. Returns the number up to which all is accepted or stored as deliveries; `null`: there was
   * nothing, or it may not be sent.
   */
  async sendNew(seq: number): Promise<number | null> {
    const hostEvents = hostEventsRepository(this.#core.collections);
    const { receiver, observer } = this.#to;
    const { deletedUpTo, last } = await hostEvents.range();
    this.last = last;
    const after = Math.max(seq, deletedUpTo);
    if (after > seq) observer.skipped(after - seq);
    observer.behind(Math.max(0, last - after));
    const limit = last > after ? await this.#room() : 0;
    if (limit === 0) return null;
    const { events, isCut } = await hostEvents.page({ ...receiver, after, upTo: last, limit });
    const left = await this.#sendOrPark(events);
    const reached = isCut || events.length === limit ? (events.at(-1)?.seq ?? after) : last;
    const end = left === null ? reached : left - 1;
    return end <= seq ? null : end;
  }

  /** How many new events may be sent. One that is down is tried with one, unless others wait by which it is tried. */
  async #room(): Promise<number> {
    const retrying = await this.#deliveries.countRetrying(this.#url, MAX_RETRYING);
    if (this.#to.health.isDown) return retrying === 0 ? 1 : 0;
    return Math.min(BATCH, MAX_RETRYING - retrying);
  }

  /**
   * Sends new events, and stores those that were not accepted, or whose request is slow, as deliveries. Returns the number of the
   * first event that is neither accepted nor stored, from which to continue; `null`: none. Starts nothing more once the
   * receiver is down.
   */
  async #sendOrPark(events: readonly NumberedHostEvent[]): Promise<number | null> {
    const { health, turns, now } = this.#to;
    const actionIds = new Set(events.flatMap(({ facts }) => facts.actionId ?? []));
    const waiting = await this.#deliveries.waitingActions(this.#url, [...actionIds]);
    const wasDown = health.isDown;
    const parked: ParkedEvent[] = [];
    const left: number[] = [];
    const work = async (turn: Turn<NumberedHostEvent>): Promise<void> => {
      const some = turn.left;
      let waitsUntil = waiting.get(some[0]?.facts.actionId ?? '');
      for (const [index, event] of some.entries()) {
        turn.left = some.slice(index);
        if (waitsUntil !== undefined) {
          parked.push({ event, attempts: 0, error: null, nextAttemptAt: waitsUntil });
          continue;
        }
        const result = health.isDown && !wasDown ? 'unsent' : await this.#send(event, 0);
        if (turn.late !== null) {
          await turn.late;
          const delivery = await this.#deliveries.of(this.#url, event.id);
          if (delivery !== null) await this.#conclude(delivery, result, true);
          return;
        }
        if (result === 'unsent') {
          left.push(event.seq);
          return;
        }
        if (result === 'taken') continue;
        waitsUntil = result.nextAttemptAt;
        parked.push({ event, attempts: 1, ...result });
      }
    };
    const later = (event: NumberedHostEvent): ParkedEvent => ({
      ...{ event, attempts: 0, error: null, nextAttemptAt: this.#answeredBy() },
    });
    await turns.run(events, {
      placeOf: ({ seq, facts }) => ({ seq, actionId: facts.actionId ?? null }),
      work,
      putOff: (some) => this.#deliveries.park(this.#url, some.map(later), now()),
    });
    await this.#deliveries.park(this.#url, parked, now());
    return left.length === 0 ? null : Math.min(...left);
  }

  /** A request that begins now has ended by then. */
  #answeredBy(): Date {
    const { sender, now } = this.#to;
    return new Date(now().getTime() + sender.timeoutMs + ANSWER_SLACK_MS);
  }

  /** @param attempts number of failed attempts so far. */
  async #send(event: NumberedHostEvent, attempts: number): Promise<SendResult> {
    const { health, maySend, now, random } = this.#to;
    if (!(await maySend())) return 'unsent';
    const outcome = await this.#attempt(event);
    if (outcome === null) return 'unsent';
    if (health.note(outcome)) await this.#deliveries.hasten(this.#url, now());
    if (outcome.isTaken) return 'taken';
    const asked = Math.min(MAX_RETRY_AFTER_MS, outcome.retryAfterMs ?? 0);
    const delay = Math.max(asked, retryDelayMs(attempts + 1, random()));
    return { error: outcome.error, nextAttemptAt: new Date(now().getTime() + delay) };
  }

  /** `null`: aborted before there was an answer. */
  async #attempt(event: NumberedHostEvent): Promise<PostOutcome | null> {
    const { signal, sender, now, observer } = this.#to;
    const [view] = await viewHostEvents(this.#core.erasures, [event]);
    if (view === undefined) return null;
    const body = JSON.stringify(webhookPayload(view));
    const startedAt = performance.now();
    try {
      const outcome = await sender.send({ id: event.id, body, sentAt: now() }, signal);
      observer.attempted(outcome.isTaken, (performance.now() - startedAt) / 1_000);
      return outcome;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  /**
   * Records how an attempt ended. Returns whether later deliveries of the same action may follow.
   * @param isLate these have been put off because the attempt took long.
   */
  async #conclude(delivery: WebhookDelivery, result: SendResult, isLate: boolean): Promise<boolean> {
    const { retryForMs, now, observer } = this.#to;
    const { id, eventId, attempts, triedSince } = delivery;
    if (result !== 'unsent' && result !== 'taken') {
      const { error, nextAttemptAt } = result;
      if (now().getTime() - triedSince.getTime() < retryForMs) {
        await this.#deliveries.postpone(delivery, error, nextAttemptAt);
        return false;
      }
      await this.#deliveries.giveUp(delivery, error, attempts + 1);
      observer.givenUp({ eventId, attempts: attempts + 1, error });
    } else if (result === 'taken') await this.#deliveries.drop(id);
    if (isLate) await this.#deliveries.putOff([delivery], now());
    return result !== 'unsent';
  }
}

interface Place {
  readonly seq: number;
  readonly actionId: ActionId | null;
}

const CONCURRENT_REQUESTS = 8;

/** Events of one action, in order. */
interface Turn<T> {
  /** Unfinished deliveries, the one being sent first. Kept by the work. */
  left: readonly T[];
  /** The round goes on without this turn. Resolves when what is left of it is stored for later. */
  late: Promise<void> | null;
}

interface TurnWork<T> {
  readonly placeOf: (value: T) => Place;
  /** Once the turn is late, it finishes the first that is left and nothing more. */
  readonly work: (turn: Turn<T>) => Promise<void>;
  /** Stores what is left, so that it is sent later if this process does not finish it. */
  readonly putOff: (left: readonly T[]) => Promise<void>;
}

/**
 * The requests to one receiver: events of different actions concurrently, those of one action together and in order. A request
 * that is not answered holds one place until it ends, while the others go on.
 */
class Turns {
  readonly #gate = new Gate(CONCURRENT_REQUESTS);
  readonly #slowAfterMs: number;
  readonly #onLateEnded: (error: unknown) => void;
  readonly #late = new Set<Promise<void>>();

  /**
   * @param slowAfterMs how long a round waits for its last requests.
   * @param onLateEnded called when a request ended that a round did not wait for, with its error or null.
   */
  constructor(slowAfterMs: number, onLateEnded: (error: unknown) => void) {
    this.#slowAfterMs = slowAfterMs;
    this.#onLateEnded = onLateEnded;
  }

  /** Resolves when all are finished, or put off because their request is slow. */
  async run<T>(values: readonly T[], { placeOf, work, putOff }: TurnWork<T>): Promise<void> {
    const turns = new Map<ActionId | number, T[]>();
    for (const value of values) {
      const { seq, actionId } = placeOf(value);
      const turn = turns.get(actionId ?? seq);
      if (turn === undefined) turns.set(actionId ?? seq, [value]);
      else turn.push(value);
    }
    if (turns.size === 0) return;
    const running = new Map<Turn<T>, Promise<void>>();
    let waiting = turns.size;
    let noteAllBegun: () => void = () => undefined;
    const allBegun = new Promise<void>((resolve) => {
      noteAllBegun = resolve;
    });
    const bySeq = (a: T, b: T): number => placeOf(a).seq - placeOf(b).seq;
    const ends = [...turns.values()].map((some) => {
      const turn: Turn<T> = { left: some.sort(bySeq), late: null };
      const end = this.#gate.run(async () => {
        waiting -= 1;
        if (waiting === 0) noteAllBegun();
        await work(turn);
      });
      running.set(turn, end);
      const forget = (): void => void running.delete(turn);
      end.then(forget, forget);
      return end;
    });
    const all = Promise.allSettled(ends);
    await allBegun;
    await within(this.#slowAfterMs, all, undefined);
    const late = [...running].map(([turn, end]) => {
      turn.late = putOff(turn.left);
      this.#finishLater(end);
      return turn.late;
    });
    await Promise.all(late);
    const beside = new Set(running.values());
    for (const done of await Promise.allSettled(ends.filter((end) => !beside.has(end))))
      if (done.status === 'rejected') throw done.reason;
  }

  /** Resolves when no request of earlier rounds is under way. `false`: there was none. */
  async ended(): Promise<boolean> {
    const hadAny = this.#late.size > 0;
    while (this.#late.size > 0) await Promise.all(this.#late);
    return hadAny;
  }

  #finishLater(end: Promise<void>): void {
    const ended = end.then(
      () => null,
      (error: unknown) => error,
    );
    const noted = ended.then((error) => {
      this.#late.delete(noted);
      this.#onLateEnded(error);
    });
    this.#late.add(noted);
  }
}
