import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Identity } from '../../../domain/viewer.ts';
import { Turn } from '../../../lib/turn.ts';
import type { ReadForEvents } from '../../session/event-reads.ts';
import type { OpenEventSession } from '../../session/event-sessions.ts';
import type { KeptProfile } from '../../session/kept-profile.ts';
import type { EventReaderSession } from '../../session/reader-session.ts';
import type { FeedEvent } from '../../shapes.ts';
import type { CheckedFeedFilter } from '../filters.ts';
import {
  decideAtOnce,
  decideEvents,
  isGone,
  namesOfActions,
  type CommonFacts,
  type DecideDependencies,
  type EventMessage,
} from './live-decisions.ts';

export interface SharedDecisionsDependencies extends DecideDependencies {
  readonly read: ReadForEvents;
  /** A fresh session: what it has loaded must not outlive the events it was opened for. */
  readonly openSession: OpenEventSession;
}

/** Somebody who watches, and what is kept of them between events. */
export interface Watcher {
  readonly identity: Identity;
  readonly filter: CheckedFeedFilter;
  readonly kept: KeptProfile;
}

type Decided = readonly (FeedEvent | null)[];

/** A feed whose events are to be decided. None of its methods may throw. */
export interface Asker {
  /** Takes the waiting events, as late as possible, so that those arriving while others are decided are decided together. */
  take(): readonly EventMessage[];
  /** How many messages that may mean a change by the reader had arrived when the events were taken. */
  readonly changes: number;
  /** Called with what is sent for each of the events; null: nothing. */
  decided(events: Decided): void;
  failed(error: unknown): void;
}

interface Asked {
  readonly watcher: Watcher;
  readonly asker: Asker;
}

/** The same with the events taken. */
interface Taken extends Asked {
  readonly messages: readonly EventMessage[];
}

/** Watchers who are decided for in one turn of the event loop. */
const SLICE = 500;
/** Reads under way at once. While they are, who asks gathers: the busier it is, the more are decided for by one read. */
const READS_AT_ONCE = 2;

/**
 * Decides what watchers are sent, for all who ask in the same moment by one read of what is the same for them: the actions,
 * and the stamps by which the profiles that are kept of them hold. Most are decided for without any further read, one
 * after the other; each of the others by a session of their own. Nobody goes by a read that began before their events came.
 */
export class SharedDecisions {
  readonly #dependencies: SharedDecisionsDependencies;
  #waiting: Asked[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(dependencies: SharedDecisionsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Decides what the watcher is sent, and tells the asker, later and once. */
  decide(watcher: Watcher, asker: Asker): void {
    this.#waiting.push({ watcher, asker });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Behind everything that has arrived in this turn.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#startNext();
    });
  }

  #startNext(): void {
    if (this.#waiting.length === 0 || this.#underWay >= READS_AT_ONCE) return;
    const asked = this.#waiting.map((one) => ({ ...one, messages: one.asker.take() }));
    this.#waiting = [];
    this.#underWay += 1;
    const reading = this.#read(asked).finally(() => {
      this.#underWay -= 1;
      this.#startNext();
    });
    reading.then(
      (facts) => this.#decideAll(asked, facts),
      (error: unknown) => {
        for (const { asker } of asked) asker.failed(error);
      },
    );
  }

  async #read(asked: readonly Taken[]): Promise<CommonFacts> {
    const ids = new Set<string>();
    for (const { messages } of asked)
      for (const { event } of messages) if (event.kind !== 'list') ids.add(event.actionId);
    const reads = await this.#dependencies.read(ids);
    const actions = Array.from(reads.sightings.values(), (sighting) => sighting?.action ?? []).flat();
    const relevancyNow = await this.#dependencies.boosts(actions.filter((action) => !isGone(action)));
    return { reads, relevancyNow };
  }

  async #decideAll(asked: readonly Taken[], facts: CommonFacts): Promise<void> {
    for (let from = 0; from < asked.length; from += SLICE) {
      if (from > 0) await nextTurn();
      await this.#decideSlice(asked.slice(from, from + SLICE), facts);
    }
  }

  /** Of whom more has to be read is asked for first, and together; the others are answered one by one. */
  async #decideSlice(asked: readonly Taken[], facts: CommonFacts): Promise<void> {
    const known: { readonly asker: Asker; readonly decided: Decided }[] = [];
    for (const taken of asked) {
      const { asker } = taken;
      try {
        const decided = this.#decideFor(taken, facts);
        if (decided instanceof Promise) tellLater(asker, decided);
        else known.push({ asker, decided });
      } catch (error) {
        asker.failed(error);
      }
    }
    const turn = new Turn();
    for (const { asker, decided } of known) {
      if (turn.isOver()) await turn.next();
      asker.decided(decided);
    }
  }

  #decideFor({ watcher, asker, messages }: Taken, facts: CommonFacts): Decided | Promise<Decided> {
    if (messages.length === 0) return [];
    const { changes } = asker;
    const { boosts, openSession } = this.#dependencies;
    const { identity, kept, filter } = watcher;
    const open = (): EventReaderSession => openSession(identity, { kept, changes, reads: facts.reads });
    const profile = kept.find(facts.reads.stamps, changes);
    const decided =
      profile === null
        ? null
        : decideAtOnce(
            facts,
            { identity, profile, open: openedLater(open, messages, facts) },
            filter,
            messages,
          );
    return decided ?? decideEvents({ boosts }, open(), filter, messages);
  }
}

function tellLater(asker: Asker, decided: Promise<Decided>): void {
  decided.then(
    (events) => {
      asker.decided(events);
    },
    (error: unknown) => {
      asker.failed(error);
    },
  );
}

function openedLater(
  open: () => EventReaderSession,
  messages: readonly EventMessage[],
  { reads }: CommonFacts,
): () => EventReaderSession {
  let opened: EventReaderSession | null = null;
  return () => {
    if (opened !== null) return opened;
    opened = open();
    if (messages.length > 1)
      opened.expectNames(
        namesOfActions(
          messages.flatMap(({ event }) =>
            event.kind === 'list' ? [] : (reads.sightings.get(event.actionId)?.action ?? []),
          ),
        ),
      );
    return opened;
  };
}
