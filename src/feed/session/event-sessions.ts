import type { Action, ActionId, UserId } from '../../domain/action.ts';
import type { Identity, ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { Reading } from '../../lib/reading.ts';
import { gathered } from '../../lib/gathered.ts';
import { mayBeOfOne } from '../../storage/database/errors.ts';
import { inSlices } from '../../lib/turn.ts';
import { type Load, type LoadedFrom, type RequestReader, type Wanted, ACTION } from './load.ts';
import { once } from '../../lib/once.ts';
import type { DirectoryAsOf } from '../../storage/stamps/directory-stamps.ts';
import type { ReaderMarks } from '../store/feeds.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';
import type { Stamps } from '../../storage/stamps/reader-stamps.ts';
import type { Repositories } from '../../storage/repositories.ts';
import type { KeptProfile } from './kept-profile.ts';
import { MAX_BATCH, readProfile } from './open-session.ts';
import type { EventReaderSession } from './reader-session.ts';
import { FOLLOW } from '../loads/own-follows.ts';
import { CACHED_REF_NAME, MEMBER } from '../loads/names.ts';

/** Data that is equal for all watchers, as of one time. */
export interface EventReads {
  readonly stamps: Stamps;
  /** `null`: names are not cached. */
  readonly directory: () => Promise<DirectoryAsOf | null>;
  /** One entry for every requested action. */
  readonly actions: ReadonlyMap<ActionId, Action | null>;
  /** Ids whose names may be needed to show these actions, until they are loaded. */
  readonly names: string[];
  /** Documents of the requested readers. */
  readonly feeds: readonly FeedDocument[];
}

export type ReadForEvents = (
  actionIds: Iterable<ActionId>,
  userIds?: readonly UserId[],
) => Promise<EventReads>;

/** Reads the data needed to decide events of these actions for any watcher, and what is stored about readers. */
export function createEventReads(repositories: Repositories): ReadForEvents {
  return async (actionIds, userIds) => {
    const actions = new Map<ActionId, Action | null>();
    for (const id of actionIds) actions.set(id, null);
    const ids = [...actions.keys()];
    // One command for all, since each costs the database as much as what it finds. More actions than that are rare.
    const [first] = await Promise.all([
      repositories.actions.findWithStamps(ids.slice(0, MAX_BATCH), userIds),
      inSlices(ids.slice(MAX_BATCH), MAX_BATCH, async (more) => {
        for (const action of await repositories.actions.findByIds(more)) actions.set(action.id, action);
      }),
    ]);
    for (const action of first.actions) actions.set(action.id, action);
    const directory = once(() => repositories.nameCache.asOf(first.directoryStamp));
    const names = [...new Set([...actions.values()].flatMap((action) => action?.refIds ?? []))];
    return { stamps: first.stamps, directory, actions, names, feeds: first.feeds };
  };
}

/** Data kept about a reader between events. */
export interface KnownReader {
  readonly kept: KeptProfile;
  /** Number of messages in their log so far that may mean a change for them. */
  readonly changes: number;
  /** Data read for all watchers since their events arrived, and what was read of the reader after that, if anything. */
  readonly reads: EventReads;
  readonly marks?: ReaderMarks;
}

/** @param known absent: the profile is read. */
export type OpenEventSession = (identity: Identity, known?: KnownReader) => EventReaderSession;

/** A session in which somebody begins to watch. The profile that it reads is kept for their events. */
export type BeginWatch = (identity: Identity, kept: KeptProfile) => Promise<EventReaderSession>;

/** Readers who begin to watch are looked up together: many come back at once. In milliseconds. */
const OPENINGS_EVERY_MS = 20;
const OPENINGS_AT_ONCE = 100;
/** Loads of a kind under way: more gather meanwhile. */
const LOADS_AT_ONCE = 2;

/**
 * Opens sessions for live events that share concurrent loads: their ids become one query, even across readers. Thousands of
 * watchers have one session per event, so a session consists of little more than its results. Create one opener per process.
 */
export function createEventSessions(
  repositories: LoadedFrom,
  read: ReadForEvents,
): { readonly openEventSession: OpenEventSession; readonly beginWatch: BeginWatch } {
  async function lookUp(userIds: readonly UserId[]): Promise<(userId: UserId) => LookedUp> {
    const reads = await read([], userIds);
    const known = new Map(reads.feeds.map((feed) => [feed._id, feed]));
    return (userId) => ({ reads, marks: repositories.feeds.marksIn(known.get(userId) ?? null) });
  }
  const nameOf = (userId: UserId): string => userId;
  const together = { nameOf, mayBeOfOne, atOnce: LOADS_AT_ONCE };
  const loads = new EventLoads(repositories, gathered(lookUp, { ...together, most: MAX_BATCH }), null);
  const openings = gathered(lookUp, { ...together, most: OPENINGS_AT_ONCE, everyMs: OPENINGS_EVERY_MS });
  const openEventSession: OpenEventSession = (identity, known) =>
    new EventSession(loads, identity, known ?? null);
  return {
    openEventSession,
    async beginWatch(identity, kept) {
      const lookedUp = (await openings(identity.userId))(identity.userId);
      return openEventSession(identity, { kept, changes: 0, ...lookedUp });
    },
  };
}

/** Marks of a reader, and what was read before them. */
interface LookedUp {
  readonly reads: EventReads;
  readonly marks: ReaderMarks;
}

type LookUp = (userId: UserId) => Promise<(userId: UserId) => LookedUp>;
type SharedLoad = (wanted: Wanted) => Promise<ReadonlyMap<string, unknown>>;

/** Loads shared by the sessions of live events. */
class EventLoads {
  readonly repositories: LoadedFrom;
  readonly lookUp: LookUp;
  /** The reading of all watchers, whose loads go together: nothing ends it. */
  readonly reading = new Reading();
  readonly #shared = new Map<Load<unknown>, SharedLoad>();
  /** For sessions that may use names cached as of one state of the directory. */
  readonly #named = new WeakMap<DirectoryAsOf, EventLoads>();
  readonly #request: RequestReader | undefined;

  constructor(repositories: LoadedFrom, lookUp: LookUp, directory: DirectoryAsOf | null) {
    this.repositories = repositories;
    this.lookUp = lookUp;
    this.#request =
      directory === null ? undefined : { identity: null, directory: () => Promise.resolve(directory) };
  }

  asOf(directory: DirectoryAsOf): EventLoads {
    const known = this.#named.get(directory) ?? new EventLoads(this.repositories, this.lookUp, directory);
    this.#named.set(directory, known);
    return known;
  }

  async load<V>(what: Load<V>, wanted: Wanted): Promise<V | null> {
    const { nameOf } = what;
    let shared = this.#shared.get(what);
    if (shared === undefined) {
      const find = (all: readonly Wanted[]) => what.find(this.repositories, all, this.#request);
      shared = gathered(find, { nameOf, mayBeOfOne, most: MAX_BATCH, atOnce: LOADS_AT_ONCE });
      this.#shared.set(what, shared);
    }
    return ((await shared(wanted)).get(nameOf(wanted)) as V | undefined) ?? null;
  }
}

class EventSession implements EventReaderSession {
  readonly identity: Identity;
  readonly #loads: EventLoads;
  readonly #known: KnownReader | null;
  /** Created by the first load: most sessions load nothing. */
  #results: Map<Load<unknown>, Map<string, Promise<unknown>>> | undefined;
  #profile: Promise<ReaderProfile> | undefined;

  constructor(loads: EventLoads, identity: Identity, known: KnownReader | null) {
    this.#loads = loads;
    this.identity = identity;
    this.#known = known;
  }

  get reading(): Reading {
    return this.#loads.reading;
  }

  load<V>(what: Load<V>, id: string): Promise<V | null> {
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

  loadAt(id: ActionId): Promise<Action | null> {
    return this.load(ACTION, id);
  }

  profile(): Promise<ReaderProfile> {
    return (this.#profile ??= this.#known === null ? this.#read() : this.#keptProfile(this.#known));
  }

  async #keptProfile({ kept, changes, marks, reads: { stamps } }: KnownReader): Promise<ReaderProfile> {
    const known = kept.find(stamps, changes);
    if (known !== null) return known;
    const profile = await this.#read(marks);
    kept.keep(profile, stamps, changes);
    return profile;
  }

  freshProfile(): Promise<ReaderProfile> {
    return this.#read();
  }

  #read(known?: ReaderMarks): Promise<ReaderProfile> {
    const { userId } = this.identity;
    const follow = (id: string) => this.#loads.load(FOLLOW, { userId, id });
    return readProfile(this.#loads.repositories, this.identity, {
      asOf: clock.now(),
      member: this.load(MEMBER, userId),
      marks: known ?? this.#loads.lookUp(userId).then((found) => found(userId).marks),
      follows: async (refIds) => (await Promise.all(refIds.map(follow))).filter((found) => found !== null),
    });
  }

  /** Readers of live events are looked up together: data of a single reader is not used. */
  know(): void {
    // Ignored.
  }

  readonly directoryStamp = null;

  directory(): Promise<DirectoryAsOf | null> {
    return this.#known === null ? NOT_KNOWN : this.#known.reads.directory();
  }

  cached(): null {
    return null;
  }

  #begin<V>(what: Load<V>, id: string): Promise<unknown> {
    const read = what === (ACTION as unknown) ? this.#known?.reads.actions : undefined;
    if (read?.has(id) === true) return Promise.resolve(read.get(id) ?? null);
    const wanted = { userId: this.identity.userId, id };
    return what.hasNames ? this.#named(what, wanted) : this.#loads.load(what, wanted);
  }

  async #named<V>(what: Load<V>, wanted: Wanted): Promise<V | null> {
    const directory = await this.directory();
    if (directory === null) return this.#loads.load(what, wanted);
    const loads = this.#loads.asOf(directory);
    // The first name that is needed brings those of all actions of the read, in one query of each kind.
    for (const id of this.#known?.reads.names.splice(0) ?? [])
      for (const kind of [CACHED_REF_NAME, MEMBER])
        // Failures are reported to callers that need the values.
        loads.load<unknown>(kind, { userId: wanted.userId, id }).catch(() => undefined);
    return loads.load(what, wanted);
  }
}

const NOT_KNOWN: Promise<null> = Promise.resolve(null);
