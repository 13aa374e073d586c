import type { Action, ActionId } from '../../domain/action.ts';
import type { Identity, ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { SharedLoads } from '../../lib/shared-loads.ts';
import { inSlices } from '../../lib/turn.ts';
import { load, type Load, type Wanted, ACTION } from './load.ts';
import type { Stamps } from '../store/reader-stamps.ts';
import type { Repositories } from '../../storage/repositories.ts';
import type { KeptProfile } from './kept-profile.ts';
import { MAX_BATCH, readProfile } from './open-session.ts';
import type { EventReaderSession } from './reader-session.ts';
import { FOLLOW } from '../../features/follow/own-follows.ts';
import { MEMBER, REF } from '../../features/directory/names.ts';

/** Data that is equal for all watchers, as of one time. */
export interface EventReads {
  readonly stamps: Stamps;
  /** One entry for every requested action. */
  readonly actions: ReadonlyMap<ActionId, Action | null>;
}

export type ReadForEvents = (actionIds: Iterable<ActionId>) => Promise<EventReads>;

/** Reads the data needed to decide events of these actions for any watcher. */
export function createEventReads(repositories: Repositories): ReadForEvents {
  return async (actionIds) => {
    const actions = new Map<ActionId, Action | null>();
    for (const id of actionIds) actions.set(id, null);
    const ids = [...actions.keys()];
    if (ids.length === 0) return { stamps: await repositories.readerStamps.read(), actions };
    // One command for both, since each costs the database as much as what it finds. More actions than that are rare.
    const [first] = await Promise.all([
      repositories.actions.findWithStamps(ids.slice(0, MAX_BATCH)),
      inSlices(ids.slice(MAX_BATCH), MAX_BATCH, async (more) => {
        for (const action of await repositories.actions.findByIds(more)) actions.set(action.id, action);
      }),
    ]);
    for (const action of first.actions) actions.set(action.id, action);
    return { stamps: first.stamps, actions };
  };
}

/** Data kept about a reader between events. */
export interface KnownReader {
  readonly kept: KeptProfile;
  /** Number of messages in their log so far that may mean a change for them. */
  readonly changes: number;
  /** Data read for all watchers since their events arrived. */
  readonly reads: EventReads;
}

/** @param known absent: the profile is read. */
export type OpenEventSession = (identity: Identity, known?: KnownReader) => EventReaderSession;

/**
 * Opens sessions for live events that share concurrent loads: their ids become one query, even across readers. Thousands of
 * watchers have one session per event, so a session consists of little more than its results. Create one opener per process.
 */
export function createEventSessions(repositories: Repositories): OpenEventSession {
  const loads = new EventLoads(repositories);
  return (identity, known) => new EventSession(loads, identity, known ?? null);
}

const READER_MARKS = load({
  batch: ({ feeds }, ids) => feeds.marksOf(ids),
  key: ({ userId }) => userId,
});

/** Loads shared by the sessions of live events. */
class EventLoads {
  readonly repositories: Repositories;
  readonly #shared = new Map<Load<unknown>, SharedLoads<Wanted, unknown>>();

  constructor(repositories: Repositories) {
    this.repositories = repositories;
  }

  load<V>(what: Load<V>, wanted: Wanted): Promise<V | null> {
    let shared = this.#shared.get(what);
    if (shared === undefined) {
      const { nameOf } = what;
      shared = new SharedLoads<Wanted, unknown>({
        load: (keys) => what.find(this.repositories, keys),
        nameOf,
        maxBatch: MAX_BATCH,
      });
      this.#shared.set(what, shared);
    }
    return shared.load(wanted) as Promise<V | null>;
  }
}

class EventSession implements EventReaderSession {
  readonly identity: Identity;
  readonly #loads: EventLoads;
  readonly #known: KnownReader | null;
  /** Created by the first load: most sessions load nothing. */
  #results: Map<Load<unknown>, Map<string, Promise<unknown>>> | undefined;
  #profile: Promise<ReaderProfile> | undefined;
  #expected: readonly string[] = NOTHING;

  constructor(loads: EventLoads, identity: Identity, known: KnownReader | null) {
    this.#loads = loads;
    this.identity = identity;
    this.#known = known;
  }

  load<V>(what: Load<V>, id: string): Promise<V | null> {
    if (what.hasNames) this.#loadExpected();
    this.#results ??= new Map();
    let results = this.#results.get(what);
    if (results === undefined) this.#results.set(what, (results = new Map<string, Promise<unknown>>()));
    let result = results.get(id);
    if (result === undefined) results.set(id, (result = this.#begin(what, id)));
    return result as Promise<V | null>;
  }

  loadMany<V>(what: Load<V>, ids: readonly string[]): Promise<(V | null)[]> {
    return Promise.all(ids.map((id) => this.load(what, id)));
  }

  profile(): Promise<ReaderProfile> {
    return (this.#profile ??= this.#known === null ? this.freshProfile() : this.#keptProfile(this.#known));
  }

  async #keptProfile({ kept, changes, reads: { stamps } }: KnownReader): Promise<ReaderProfile> {
    const known = kept.find(stamps, changes);
    if (known !== null) return known;
    const profile = await this.freshProfile();
    kept.keep(profile, stamps, changes);
    return profile;
  }

  freshProfile(): Promise<ReaderProfile> {
    const { userId } = this.identity;
    const follow = (id: string) => this.#loads.load(FOLLOW, { userId, id });
    return readProfile(this.#loads.repositories, this.identity, {
      asOf: clock.now(),
      member: this.load(MEMBER, userId),
      marks: this.#loads.load(READER_MARKS, { userId, id: userId }).then((marks) => {
        if (marks === null) throw new Error('A reader has no marks');
        return marks;
      }),
      follows: async (refIds) => (await Promise.all(refIds.map(follow))).filter((found) => found !== null),
    });
  }

  /** Readers of live events are looked up together: data of a single reader is not used. */
  know(): void {
    // Ignored.
  }

  readonly directoryStamp = null;

  directory(): Promise<null> {
    return Promise.resolve(null);
  }

  cached(): null {
    return null;
  }

  expectNames(ids: readonly string[]): void {
    this.#expected = ids;
  }

  #loadExpected(): void {
    if (this.#expected.length === 0) return;
    const ids = this.#expected;
    this.#expected = NOTHING;
    // Failures are reported to the callers that need the values.
    for (const what of [REF, MEMBER]) this.loadMany<unknown>(what, ids).catch(() => undefined);
  }

  #begin<V>(what: Load<V>, id: string): Promise<unknown> {
    const read = what === (ACTION as unknown) ? this.#known?.reads.actions : undefined;
    if (read?.has(id) === true) return Promise.resolve(read.get(id) ?? null);
    return this.#loads.load(what, { userId: this.identity.userId, id });
  }
}

const NOTHING: readonly string[] = [];
