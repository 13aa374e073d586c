import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Identity } from '../../domain/viewer.ts';
import { eachInTurns } from '../../lib/turn.ts';
import type { OpenEventSession, ReadForEvents } from '../session/event-sessions.ts';
import type { KeptProfile } from '../session/kept-profile.ts';
import type { EventReaderSession } from '../session/reader-session.ts';
import type { FeedEvent, UnreadCount } from '../../core/shapes.ts';
import type { CheckedFeedFilter } from '../page/filters.ts';
import type { FeedView } from '../page/declared.ts';
import {
  decideAtOnce,
  decideEvents,
  isGone,
  isOfEntry,
  type CommonFacts,
  type EventMessage,
} from './live-decisions.ts';
import type { SharedBoosts } from './shared-boosts.ts';
import { gathered } from '../../lib/gathered.ts';

/** Concurrent counts: each one reads a feed. */
const COUNTS_AT_ONCE = 50;

/** Counts for watchers. Tabs of a reader that ask before a count begins share it, and few counts run at once. */
export function createSharedUnread(
  count: (watched: Watched) => Promise<UnreadCount>,
): (watched: Watched) => Promise<UnreadCount> {
  const countOne = ([watched]: readonly Watched[]): Promise<UnreadCount> =>
    watched === undefined ? Promise.reject(new Error('A count of nobody')) : count(watched);
  return gathered(countOne, { nameOf, most: 1, atOnce: COUNTS_AT_ONCE });
}

/** Whose items a watcher counts, and of which view; `null`: of the feed. */
export interface Watched {
  readonly identity: Identity;
  readonly view: FeedView | null;
}

function nameOf({ identity: { userId, roles }, view }: Watched): string {
  return JSON.stringify([view?.name ?? null, userId, ...[...roles].sort()]);
}

export interface DecisionSources {
  readonly boosts: SharedBoosts;
  readonly read: ReadForEvents;
  /** Opens a new session: its loaded data must not be used beyond the events it was opened for. */
  readonly openSession: OpenEventSession;
}

/** A watcher, with the data cached about them between events. */
export interface Watcher {
  readonly identity: Identity;
  readonly filter: CheckedFeedFilter;
  readonly kept: KeptProfile;
}

type Decided = readonly (FeedEvent | null)[];

/** A feed with events to decide. Its methods must not throw. */
export interface DecisionListener {
  /** Takes the waiting events as late as possible, so that events arriving during other decisions are decided together. */
  take(): readonly EventMessage[];
  /** Number of messages that may mean a change by the reader, as of when the events were taken. */
  readonly changes: number;
  /** Called with the result for each event; `null`: nothing to send. */
  decided(events: Decided): void;
  failed(error: unknown): void;
}

interface Asked {
  readonly watcher: Watcher;
  readonly listener: DecisionListener;
}

/** The same after its events were taken. */
interface Taken extends Asked {
  readonly messages: readonly EventMessage[];
}

/** Watchers decided in one turn of the event loop. */
const SLICE = 500;
/** Concurrent reads. Requests gather while both are busy: the higher the load, the more are decided by one read. */
const READS_AT_ONCE = 2;

/**
 * Decides events for all watchers that ask at the same time, with one read of their shared data: the actions, and the stamps
 * that validate cached profiles. Most are decided without any further read; the others use a session each. Nobody's events
 * are decided from a read that began before the events arrived.
 */
export class SharedDecisions {
  readonly #sources: DecisionSources;
  #waiting: Asked[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(sources: DecisionSources) {
    this.#sources = sources;
  }

  /** Decides the watcher's events and calls back later, once. */
  decide(watcher: Watcher, listener: DecisionListener): void {
    this.#waiting.push({ watcher, listener });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After everything that arrives in this turn of the event loop.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#startNext();
    });
  }

  #startNext(): void {
    if (this.#waiting.length === 0 || this.#underWay >= READS_AT_ONCE) return;
    const asked = this.#waiting.map((one) => ({ ...one, messages: one.listener.take() }));
    this.#waiting = [];
    this.#underWay += 1;
    const reading = this.#read(asked).finally(() => {
      this.#underWay -= 1;
      this.#startNext();
    });
    reading.then(
      (facts) => this.#decideAll(asked, facts),
      (error: unknown) => {
        for (const { listener } of asked) listener.failed(error);
      },
    );
  }

  async #read(asked: readonly Taken[]): Promise<CommonFacts> {
    const ids = new Set<string>();
    for (const { messages } of asked)
      for (const { event } of messages) if (isOfEntry(event)) ids.add(event.actionId);
    const reads = await this.#sources.read(ids);
    const actions = [...reads.actions.values()].filter((action) => action !== null);
    const relevancyNow = await this.#sources.boosts(actions.filter((action) => !isGone(action)));
    return { reads, relevancyNow };
  }

  async #decideAll(asked: readonly Taken[], facts: CommonFacts): Promise<void> {
    for (let from = 0; from < asked.length; from += SLICE) {
      if (from > 0) await nextTurn();
      await this.#decideSlice(asked.slice(from, from + SLICE), facts);
    }
  }

  /**
   * Starts the watchers that need further reads first, so that these reads are batched; the others are answered one by one.
   */
  async #decideSlice(asked: readonly Taken[], facts: CommonFacts): Promise<void> {
    const known: { readonly listener: DecisionListener; readonly decided: Decided }[] = [];
    for (const taken of asked) {
      const { listener } = taken;
      try {
        const decided = this.#decideFor(taken, facts);
        if (decided instanceof Promise) tellLater(listener, decided);
        else known.push({ listener, decided });
      } catch (error) {
        listener.failed(error);
      }
    }
    await eachInTurns(known, ({ listener, decided }) => listener.decided(decided));
  }

  #decideFor({ watcher, listener, messages }: Taken, facts: CommonFacts): Decided | Promise<Decided> {
    if (messages.length === 0) return [];
    const { changes } = listener;
    const { boosts, openSession } = this.#sources;
    const { identity, kept, filter } = watcher;
    let opened: EventReaderSession | null = null;
    const open = (): EventReaderSession =>
      (opened ??= openSession(identity, { kept, changes, reads: facts.reads }));
    const profile = kept.find(facts.reads.stamps, changes);
    const decided =
      profile === null ? null : decideAtOnce(facts, { identity, profile, open }, filter, messages);
    return decided ?? decideEvents(boosts, open(), filter, messages);
  }
}

function tellLater(listener: DecisionListener, decided: Promise<Decided>): void {
  decided.then(
    (events) => listener.decided(events),
    (error: unknown) => listener.failed(error),
  );
}
