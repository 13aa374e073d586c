import type { Action, ActionId, RefId, UserId } from '../../domain/action.ts';
import type { ItemMark } from '../../domain/newsfeed-item.ts';
import type { MemberDetails, RefDetails, Member, Ref, RefName } from '../../domain/member.ts';
import type { Follow, Identity, ReaderProfile } from '../../domain/viewer.ts';
import type { EventReaderSession, Loader } from './reader-session.ts';
import type { OwnInteractions } from '../../domain/interaction.ts';
import { type InteractionPage, findInteractionPages } from './interaction-pages.ts';
import { clock } from '../../lib/clock.ts';
import type { EventReads } from './event-reads.ts';
import type { KeptProfile } from './kept-profile.ts';
import { endedSnoozesOf, pulledFollowsOf, type SessionRepositories } from './open-session.ts';
import { SharedLoads } from '../../lib/shared-loads.ts';
import type { FollowPair } from '../../features/follow/store/follow-reads.ts';
import type { OwnPair } from '../../features/interactions/store/interaction-lists.ts';
import type { ReaderAction } from '../../storage/documents/reader-action-id.ts';
import type { Stamps } from '../store/reader-stamps.ts';

const maxBatch = 500;
const sameName = (id: string): string => id;
/** Key of the single document with the stamps of all readers. */
const ALL_STAMPS = 'all';

type EventLoads = ReturnType<typeof createEventLoads>;

/** Loads shared by the sessions of live events. Keys of data of one reader include the reader. */
function createEventLoads(repositories: SessionRepositories) {
  const byId = <V>(
    load: (ids: readonly string[]) => Promise<readonly V[]>,
    resultName: (result: V) => string,
  ) => new SharedLoads({ load, resultName, nameOf: sameName, maxBatch });
  return {
    pulledRefs: repositories.pulledRefs,
    snoozes: repositories.snoozes,
    stamps: byId<{ readonly name: string; readonly stamps: Stamps }>(
      async (names) => {
        const stamps = await repositories.readerStamps.read();
        return names.map((name) => ({ name, stamps }));
      },
      ({ name }) => name,
    ),
    actions: byId<Action>(
      (ids) => repositories.actions.findByIds(ids),
      ({ id }) => id,
    ),
    members: byId<Member>(
      (ids) => repositories.members.findByIds(ids),
      ({ userId }) => userId,
    ),
    refs: byId<Ref>(
      (ids) => repositories.refs.findByIds(ids),
      ({ refId }) => refId,
    ),
    memberDetails: byId<MemberDetails>(
      (ids) => repositories.details.ofMembers(ids),
      ({ userId }) => userId,
    ),
    refDetails: byId<RefDetails>(
      (ids) => repositories.details.ofRefs(ids),
      ({ refId }) => refId,
    ),
    marks: byId(
      (ids) => repositories.feeds.marksOf(ids),
      ({ userId }) => userId,
    ),
    follows: new SharedLoads<FollowPair, Follow & FollowPair>({
      load: (keys) => repositories.follows.findPairs(keys),
      nameOf: followName,
      resultName: followName,
      maxBatch,
    }),
    own: new SharedLoads<OwnPair, OwnInteractions & OwnPair>({
      load: (keys) => repositories.interactions.own(keys),
      nameOf: pairName,
      resultName: pairName,
      maxBatch,
    }),
    interactionPages: byId<InteractionPage>(
      (names) => findInteractionPages(repositories.interactions, names),
      ({ name }) => name,
    ),
    itemMarks: new SharedLoads<ReaderAction, ItemMark & ReaderAction>({
      load: (keys) => repositories.itemMarks.findPairs(keys),
      nameOf: pairName,
      resultName: pairName,
      maxBatch,
    }),
    bookmarks: new SharedLoads<ReaderAction, ReaderAction>({
      load: (keys) => repositories.bookmarks.findPairs(keys),
      nameOf: pairName,
      resultName: pairName,
      maxBatch,
    }),
  };
}

function followName({ followerId, refId }: FollowPair): string {
  return JSON.stringify([followerId, refId]);
}

function pairName({ userId, actionId }: ReaderAction): string {
  return JSON.stringify([userId, actionId]);
}

/**
 * Opens sessions for live events that share concurrent loads: their keys become one query, even across readers. Thousands of
 * watchers have one session per event, so a session consists of little more than its cache. Create one opener per process.
 */
export function createEventSessions(repositories: SessionRepositories): OpenEventSession {
  const loads = createEventLoads(repositories);
  return (identity, known) => new EventSession(loads, identity, known ?? null);
}

/** Data kept about a reader between events. */
export interface KnownReader {
  readonly kept: KeptProfile;
  /** Number of messages in their log so far that may mean a change for them. */
  readonly changes: number;
  /** Data read for all watchers since their events arrived; absent: none. */
  readonly reads?: EventReads;
}

/** @param known absent: the profile is read. */
export type OpenEventSession = (identity: Identity, known?: KnownReader) => EventReaderSession;

class EventSession implements EventReaderSession {
  readonly identity: Identity;
  readonly #loads: EventLoads;
  readonly #known: KnownReader | null;
  #profile: Promise<ReaderProfile> | undefined;
  #actions: Loader<ActionId, Action | null> | undefined;
  #members: Loader<UserId, Member | null> | undefined;
  #refs: Loader<RefId, Ref | null> | undefined;
  #memberDetails: Loader<UserId, MemberDetails | null> | undefined;
  #refDetails: Loader<RefId, RefDetails | null> | undefined;
  #follows: Loader<RefId, Follow | null> | undefined;
  #marks: Loader<ActionId, ItemMark | null> | undefined;
  #bookmarks: Loader<ActionId, ActionId | null> | undefined;
  #own: Loader<ActionId, OwnInteractions | null> | undefined;
  #interactionPages: Loader<string, InteractionPage | null> | undefined;
  #expected: readonly string[] = [];

  constructor(loads: EventLoads, identity: Identity, known: KnownReader | null) {
    this.#loads = loads;
    this.identity = identity;
    this.#known = known;
  }

  profile(): Promise<ReaderProfile> {
    return (this.#profile ??= this.#known === null ? this.#loadProfile() : this.#keptProfile(this.#known));
  }

  freshProfile(): Promise<ReaderProfile> {
    return this.#loadProfile();
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

  get actions(): Loader<ActionId, Action | null> {
    const known = this.#known?.reads?.actions;
    return (this.#actions ??= new Remembered((id) =>
      known?.has(id) === true ? Promise.resolve(known.get(id) ?? null) : this.#loads.actions.load(id),
    ));
  }

  expectNames(ids: readonly string[]): void {
    this.#expected = ids;
  }

  get members(): Loader<UserId, Member | null> {
    this.#loadExpected();
    return (this.#members ??= new Remembered((id) => this.#loads.members.load(id)));
  }

  get refs(): Loader<RefId, Ref | null> {
    this.#loadExpected();
    return (this.#refs ??= new Remembered((id) => this.#loads.refs.load(id)));
  }

  get refNames(): Loader<RefId, RefName | null> {
    return this.refs;
  }

  get memberDetails(): Loader<UserId, MemberDetails | null> {
    return (this.#memberDetails ??= new Remembered((id) => this.#loads.memberDetails.load(id)));
  }

  get refDetails(): Loader<RefId, RefDetails | null> {
    return (this.#refDetails ??= new Remembered((id) => this.#loads.refDetails.load(id)));
  }

  get follows(): Loader<RefId, Follow | null> {
    const { userId: followerId } = this.identity;
    return (this.#follows ??= new Remembered((refId) => this.#loads.follows.load({ followerId, refId })));
  }

  get marks(): Loader<ActionId, ItemMark | null> {
    const { userId } = this.identity;
    return (this.#marks ??= new Remembered((actionId) => this.#loads.itemMarks.load({ userId, actionId })));
  }

  get bookmarks(): Loader<ActionId, ActionId | null> {
    const { userId } = this.identity;
    return (this.#bookmarks ??= new Remembered(async (actionId) => {
      const found = await this.#loads.bookmarks.load({ userId, actionId });
      return found === null ? null : found.actionId;
    }));
  }

  get own(): Loader<ActionId, OwnInteractions | null> {
    const { userId } = this.identity;
    return (this.#own ??= new Remembered((actionId) => this.#loads.own.load({ userId, actionId })));
  }

  get interactionPages(): Loader<string, InteractionPage | null> {
    return (this.#interactionPages ??= new Remembered((name) => this.#loads.interactionPages.load(name)));
  }

  #loadExpected(): void {
    if (this.#expected.length === 0) return;
    const ids = this.#expected;
    this.#expected = [];
    // Failures are reported to the callers that need the values.
    void Promise.all([this.refs.loadMany(ids), this.members.loadMany(ids)]);
  }

  async #keptProfile({ kept, changes, reads }: KnownReader): Promise<ReaderProfile> {
    const { stamps } = reads ?? (await this.#readStamps());
    const known = kept.find(stamps, changes);
    if (known !== null) return known;
    const profile = await this.#loadProfile();
    kept.keep(profile, stamps, changes);
    return profile;
  }

  async #readStamps(): Promise<{ readonly stamps: EventReads['stamps'] }> {
    const read = await this.#loads.stamps.load(ALL_STAMPS);
    if (read === null) throw new Error('There are always stamps');
    return read;
  }

  async #loadProfile(): Promise<ReaderProfile> {
    const { userId, roles } = this.identity;
    const asOf = clock.now();
    const [member, marks, pulledFollows] = await Promise.all([
      this.members.load(userId),
      this.#loads.marks.load(userId),
      pulledFollowsOf(this.#loads.pulledRefs, (refIds) =>
        this.#loads.follows.find(refIds.map((refId) => ({ followerId: userId, refId }))),
      ),
    ]);
    if (marks === null) throw new Error('A reader has no marks');
    const endedSnoozes = endedSnoozesOf(this.#loads.snoozes, userId, marks, asOf);
    return { ...marks, isAdmin: roles.has('admin'), member, pulledFollows, asOf, endedSnoozes };
  }
}

/** Loads each key once. */
class Remembered<V> implements Loader<string, V | null> {
  readonly #load: (key: string) => Promise<V | null>;
  readonly #known = new Map<string, Promise<V | null>>();

  constructor(load: (key: string) => Promise<V | null>) {
    this.#load = load;
  }

  load(key: string): Promise<V | null> {
    let result = this.#known.get(key);
    if (result === undefined) this.#known.set(key, (result = this.#load(key)));
    return result;
  }

  async loadMany(keys: readonly string[]): Promise<(V | null | Error)[]> {
    const results = await Promise.allSettled(keys.map((key) => this.load(key)));
    return results.map((result) => {
      if (result.status === 'fulfilled') return result.value;
      const reason: unknown = result.reason;
      return reason instanceof Error ? reason : new Error(String(reason));
    });
  }
}
