import type { Action, ActionId, RefId, UserId } from '../../domain/action.ts';
import type { ItemMark } from '../../domain/item-mark.ts';
import type { MemberDetails, RefDetails } from '../../domain/details.ts';
import type { Member, Ref, RefName } from '../../domain/member.ts';
import type { Follow, Identity, ReaderProfile } from '../../domain/viewer.ts';
import { SharedLoads } from '../../lib/shared-loads.ts';
import type { EventReaderSession, Loader, Sighting } from './reader-session.ts';
import type { FollowPair } from '../../storage/follow-reads.ts';
import type { OwnInteractions } from '../../domain/interaction.ts';
import type { OwnPair } from '../../storage/interaction-lists.ts';
import { findInteractionPages, type InteractionPage } from './interaction-pages.ts';
import type { HiddenPair } from '../../storage/hidden-items.ts';
import type { ReaderAction } from '../../storage/reader-action-id.ts';
import { clock } from '../../lib/clock.ts';
import type { Stamps } from '../../storage/reader-stamps.ts';
import type { KeptProfile } from './kept-profile.ts';
import { endedSnoozesOf, pulledFollowsOf, type SessionRepositories } from './open-session.ts';

/** Most keys of one query. */
const maxBatch = 500;
const sameName = (id: string): string => id;
/** All readers go by one document. */
const ALL_STAMPS = 'all';

/**
 * Opens sessions of live events, which share what they load in the same moment: keys of all of them become one query,
 * those of different readers too. Thousands of watchers have one each for every event, so a session is little more than
 * what it remembers. Make one opener per process.
 */
export function createEventSessions(repositories: SessionRepositories): OpenEventSession {
  const loads = createLoads(repositories);
  return (identity, known) => new EventSession(loads, identity, known ?? null);
}

/** What is kept of a reader between events. */
export interface KnownReader {
  readonly kept: KeptProfile;
  /** How often their log has told so far that something may have changed for them. */
  readonly changes: number;
}

/** @param known absent: the profile is read. */
export type OpenEventSession = (identity: Identity, known?: KnownReader) => EventReaderSession;

type Loads = ReturnType<typeof createLoads>;

/** What belongs to one reader is loaded by keys that name the reader. */
function createLoads(repositories: SessionRepositories) {
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
    sightings: byId<Sighting>(
      async (ids) => (await repositories.actions.findByIds(ids)).map((action) => ({ action })),
      ({ action }) => action.id,
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
    hidden: new SharedLoads<HiddenPair, HiddenPair>({
      load: (keys) => repositories.hiddenItems.findPairs(keys),
      nameOf: pairName,
      resultName: pairName,
      maxBatch,
    }),
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

class EventSession implements EventReaderSession {
  readonly identity: Identity;
  readonly #loads: Loads;
  readonly #known: KnownReader | null;
  #profile: Promise<ReaderProfile> | undefined;
  #sightings: Loader<ActionId, Sighting | null> | undefined;
  #actions: Loader<ActionId, Action | null> | undefined;
  #members: Loader<UserId, Member | null> | undefined;
  #refs: Loader<RefId, Ref | null> | undefined;
  #memberDetails: Loader<UserId, MemberDetails | null> | undefined;
  #refDetails: Loader<RefId, RefDetails | null> | undefined;
  #follows: Loader<RefId, Follow | null> | undefined;
  #hidden: Loader<ActionId, ActionId | null> | undefined;
  #marks: Loader<ActionId, ItemMark | null> | undefined;
  #bookmarks: Loader<ActionId, ActionId | null> | undefined;
  #own: Loader<ActionId, OwnInteractions | null> | undefined;
  #interactionPages: Loader<string, InteractionPage | null> | undefined;
  #expected: readonly string[] = [];

  constructor(loads: Loads, identity: Identity, known: KnownReader | null) {
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

  get sightings(): Loader<ActionId, Sighting | null> {
    return (this.#sightings ??= new Remembered((id) => this.#loads.sightings.load(id)));
  }

  /** Readers of events are looked up together. */
  know(): void {
    // What was read of one of them alone comes too late for that.
  }

  readonly directoryStamp = null;

  directory(): Promise<null> {
    return Promise.resolve(null);
  }

  held(): null {
    return null;
  }

  get actions(): Loader<ActionId, Action | null> {
    return (this.#actions ??= new Remembered(async (id) => (await this.sightings.load(id))?.action ?? null));
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

  get hidden(): Loader<ActionId, ActionId | null> {
    const { userId } = this.identity;
    return (this.#hidden ??= new Remembered(async (actionId) => {
      const found = await this.#loads.hidden.load({ userId, actionId });
      return found === null ? null : found.actionId;
    }));
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
    // A load that fails fails again for who needs it.
    void Promise.all([this.refs.loadMany(ids), this.members.loadMany(ids)]);
  }

  async #keptProfile({ kept, changes }: KnownReader): Promise<ReaderProfile> {
    const read = await this.#loads.stamps.load(ALL_STAMPS);
    if (read === null) throw new Error('There are always stamps');
    const known = kept.find(read.stamps, changes);
    if (known !== null) return known;
    const profile = await this.#loadProfile();
    kept.keep(profile, read.stamps, changes);
    return profile;
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

/** Asks once for each key. */
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

function followName({ followerId, refId }: FollowPair): string {
  return JSON.stringify([followerId, refId]);
}

function pairName({ userId, actionId }: ReaderAction): string {
  return JSON.stringify([userId, actionId]);
}
