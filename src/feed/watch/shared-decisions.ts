import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Identity, ReaderProfile } from '../../domain/viewer.ts';
import { eachInTurns } from '../../lib/turn.ts';
import type { LiveEvent, LiveMessage } from '../../live/live-log.ts';
import type { EventReads, OpenEventSession } from '../session/event-sessions.ts';
import type { KeptProfile } from '../session/kept-profile.ts';
import type { EventReaderSession } from '../session/reader-session.ts';
import type { UnreadCount } from '../../core/shapes.ts';
import type { FeedView } from '../page/declared.ts';
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

export type EventMessage = Extract<LiveMessage, { kind: 'event' }>;

/** Data read for all readers being decided. */
export interface SharedFacts {
  readonly reads: EventReads;
}

export interface DecisionSources<F> {
  /** Reads what these events are decided by, for all watchers. */
  readonly read: (events: readonly LiveEvent[]) => Promise<F>;
  /** Opens a new session: its loaded data must not be used beyond the events it was opened for. */
  readonly openSession: OpenEventSession;
  /** Very many may watch one list in which very much happens, beside watchers of others, who must not wait for them. Default: no */
  readonly givesWay?: boolean;
}

/** Milliseconds that somebody who was served waits for each watcher that was, and at most: about twenty times of what that takes. */
const PAUSE_MS = 0.25;
const MOST_PAUSE_MS = 250;

export interface KnownWatcher {
  readonly identity: Identity;
  readonly profile: ReaderProfile;
  /** Opens the session used for rendering, if more data is needed. */
  readonly open: () => EventReaderSession;
}

/** The event that a watcher receives for each of some events; `null`: none. */
type Decided<E> = readonly (E | null)[];

/** How the events of one list are decided. */
export interface WatchRules<E, F> {
  /** Without any further reads for the reader; `null`: reads are necessary. */
  atOnce(facts: F, reader: KnownWatcher, messages: readonly EventMessage[]): Decided<E> | null;
  inSession(facts: F, session: EventReaderSession, messages: readonly EventMessage[]): Promise<Decided<E>>;
}

/** A watcher, with the data cached about them between events. */
export interface Watcher<E, F> {
  readonly identity: Identity;
  readonly rules: WatchRules<E, F>;
  readonly kept: KeptProfile;
  /** Whether the log tells of what the reader changes; otherwise only their stamp does. */
  readonly isOwnLog: boolean;
}

/** A list with events to decide. Its methods must not throw. */
export interface DecisionListener<E> {
  /** Takes the waiting events as late as possible, so that events arriving during other decisions are decided together. */
  take(): readonly EventMessage[];
  /** Number of messages that may mean a change by the reader, as of when the events were taken. */
  readonly changes: number;
  /** Called with the result for each event; `null`: nothing to send. */
  decided(events: Decided<E>): void;
  failed(error: unknown): void;
}

/** A watcher that has asked, of whatever list. */
interface Asked<F> {
  readonly listener: object;
  readonly messages: readonly EventMessage[];
  take(): void;
  /** `false`: it takes further reads, after which the listener is called. */
  decide(facts: F, openSession: OpenEventSession): boolean;
  /** Tells what was decided. */
  tell(): void;
  failed(error: unknown): void;
}

const NONE: readonly never[] = [];

class Asking<E, F extends SharedFacts> implements Asked<F> {
  readonly #watcher: Watcher<E, F>;
  readonly listener: DecisionListener<E>;
  messages: readonly EventMessage[] = NONE;
  #decided: Decided<E> = NONE;

  constructor(watcher: Watcher<E, F>, listener: DecisionListener<E>) {
    this.#watcher = watcher;
    this.listener = listener;
  }

  take(): void {
    this.messages = this.listener.take();
  }

  decide(facts: F, openSession: OpenEventSession): boolean {
    const { messages } = this;
    if (messages.length === 0) return true;
    const { changes } = this.listener;
    const { identity, kept, rules } = this.#watcher;
    const { reads } = facts;
    let opened: EventReaderSession | null = null;
    const open = (): EventReaderSession => (opened ??= openSession(identity, { kept, changes, reads }));
    const profile = kept.find(reads.stamps, changes);
    const decided = profile === null ? null : rules.atOnce(facts, { identity, profile, open }, messages);
    if (decided === null) {
      rules.inSession(facts, open(), messages).then(
        (events) => this.listener.decided(events),
        (error: unknown) => this.listener.failed(error),
      );
      return false;
    }
    this.#decided = decided;
    return true;
  }

  tell(): void {
    this.listener.decided(this.#decided);
  }

  failed(error: unknown): void {
    this.listener.failed(error);
  }
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
export class SharedDecisions<F extends SharedFacts> {
  readonly #sources: DecisionSources<F>;
  #waiting: Asked<F>[] = [];
  #underWay = 0;
  #isScheduled = false;
  /** Listeners that were just served; if they give way, they wait before they are again. */
  readonly #served = new Set<object>();
  #paused: Asked<F>[] = [];

  constructor(sources: DecisionSources<F>) {
    this.#sources = sources;
  }

  /** Decides the watcher's events and calls back later, once. */
  decide<E>(watcher: Watcher<E, F>, listener: DecisionListener<E>): void {
    const asking = new Asking(watcher, listener);
    if (this.#served.has(listener)) {
      this.#paused.push(asking);
      return;
    }
    this.#waiting.push(asking);
    this.#schedule();
  }

  /**
   * A list that very many watch, and in which much happens, would leave no time for anything else: the more are served, the longer each
   * of them waits for its next turn, and what comes meanwhile is decided, and sent, together.
   */
  #pause(served: readonly Asked<F>[]): void {
    if (this.#sources.givesWay !== true) return;
    const isBegun = this.#served.size > 0;
    for (const { listener } of served) this.#served.add(listener);
    if (!isBegun) this.#goOnIn(this.#pauseNow(), performance.now());
  }

  #pauseNow(): number {
    return Math.min(MOST_PAUSE_MS, this.#served.size * PAUSE_MS);
  }

  #goOnIn(ms: number, since: number): void {
    setTimeout(() => {
      // More may have been served since.
      const left = this.#pauseNow() - (performance.now() - since);
      if (left > 0) {
        this.#goOnIn(left, since);
        return;
      }
      this.#served.clear();
      this.#waiting = this.#waiting.concat(this.#paused);
      this.#paused = [];
      this.#schedule();
    }, ms).unref();
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
    const asked = this.#waiting;
    this.#waiting = [];
    for (const one of asked) one.take();
    this.#pause(asked);
    this.#underWay += 1;
    const reading = this.#read(asked).finally(() => {
      this.#underWay -= 1;
      this.#startNext();
    });
    reading.then(
      (facts) => this.#decideAll(asked, facts),
      (error: unknown) => {
        for (const one of asked) one.failed(error);
      },
    );
  }

  #read(asked: readonly Asked<F>[]): Promise<F> {
    // Watchers of one list have the very same events.
    const events = new Set<LiveEvent>();
    for (const { messages } of asked) for (const { event } of messages) events.add(event);
    return this.#sources.read([...events]);
  }

  async #decideAll(asked: readonly Asked<F>[], facts: F): Promise<void> {
    for (let from = 0; from < asked.length; from += SLICE) {
      if (from > 0) await nextTurn();
      await this.#decideSlice(asked.slice(from, from + SLICE), facts);
    }
  }

  /**
   * Starts the watchers that need further reads first, so that these reads are batched; the others are answered one by one.
   */
  async #decideSlice(asked: readonly Asked<F>[], facts: F): Promise<void> {
    const known: Asked<F>[] = [];
    for (const one of asked) {
      try {
        if (one.decide(facts, this.#sources.openSession)) known.push(one);
      } catch (error) {
        one.failed(error);
      }
    }
    await eachInTurns(known, (one) => one.tell());
  }
}
