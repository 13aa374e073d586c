import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Identity } from '../../../domain/viewer.ts';
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

interface Asked {
  readonly watcher: Watcher;
  readonly messages: readonly EventMessage[];
  readonly changes: number;
  readonly resolve: (decided: Decided | Promise<Decided>) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads under way at once. While they are, who asks gathers: the busier it is, the more are decided for by one read. */
const READS_AT_ONCE = 2;
/** Watchers who are decided for in one turn of the event loop. */
const SLICE = 500;

/**
 * Decides what watchers are sent, for all who ask in the same moment by one read of what is the same for them: the actions,
 * and the stamps by which the profiles that are kept of them hold. Most are decided for without any further read, one
 * after the other; each of the others by a session of their own. Nobody goes by a read that began before they asked.
 */
export class SharedDecisions {
  readonly #dependencies: SharedDecisionsDependencies;
  #waiting: Asked[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(dependencies: SharedDecisionsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * What the watcher is sent for each of these events; null: nothing.
   * @param changes how many messages have arrived so far that may mean that the reader changed something.
   */
  decide(watcher: Watcher, messages: readonly EventMessage[], changes: number): Promise<Decided> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ watcher, messages, changes, resolve, reject });
      this.#schedule();
    });
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
    const asked = this.#waiting;
    this.#waiting = [];
    this.#underWay += 1;
    const reading = this.#read(asked).finally(() => {
      this.#underWay -= 1;
      this.#startNext();
    });
    reading
      .then((facts) => this.#decideAll(asked, facts))
      .catch((error: unknown) => {
        for (const { reject } of asked) reject(error);
      });
  }

  async #read(asked: readonly Asked[]): Promise<CommonFacts> {
    const ids = new Set<string>();
    for (const { messages } of asked)
      for (const { event } of messages) if (event.kind !== 'list') ids.add(event.actionId);
    const reads = await this.#dependencies.read(ids);
    const actions = Array.from(reads.sightings.values(), (sighting) => sighting?.action ?? []).flat();
    const relevancyNow = await this.#dependencies.boosts(actions.filter((action) => !isGone(action)));
    return { reads, relevancyNow };
  }

  async #decideAll(asked: readonly Asked[], facts: CommonFacts): Promise<void> {
    for (const [index, { resolve, ...one }] of asked.entries()) {
      if (index > 0 && index % SLICE === 0) await nextTurn();
      resolve(this.#decideFor(one, facts));
    }
  }

  #decideFor(
    { watcher, messages, changes }: Pick<Asked, 'watcher' | 'messages' | 'changes'>,
    facts: CommonFacts,
  ): Decided | Promise<Decided> {
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
