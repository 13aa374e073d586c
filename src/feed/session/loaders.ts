import DataLoader from 'dataloader';
import type { Action, ActionId, RefId, UserId } from '../../domain/action.ts';
import type { ItemMark } from '../../domain/newsfeed-item.ts';
import type { MemberDetails, RefDetails, Member, Ref, RefName } from '../../domain/member.ts';
import type { OwnInteractions } from '../../domain/interaction.ts';
import type { InteractionPage } from './interaction-pages.ts';
import type { KnownReader } from '../feed-store.ts';
import type { Follow, Identity, ReaderProfile } from '../../domain/viewer.ts';
import { once } from '../../lib/once.ts';
import type { DirectoryAsOf, ReaderSession } from './reader-session.ts';

/** Maximum keys of one query; more are split. */
const MAX_BATCH = 500;

/** Sources of names, possibly cached. */
export interface NameSources {
  readonly directory: DirectoryAsOf;
  findMembers(ids: readonly UserId[]): Promise<readonly Member[]>;
  findRefNames(ids: readonly RefId[]): Promise<readonly RefName[]>;
}

/** Sources of a session's data. Results are unordered, without duplicates; missing ones are left out. */
export interface SessionSources {
  findActions(ids: readonly ActionId[]): Promise<readonly Action[]>;
  findMembers(ids: readonly UserId[]): Promise<readonly Member[]>;
  findRefs(ids: readonly RefId[]): Promise<readonly Ref[]>;
  findMemberDetails(ids: readonly UserId[]): Promise<readonly MemberDetails[]>;
  findRefDetails(ids: readonly RefId[]): Promise<readonly RefDetails[]>;
  findFollows(userId: UserId, refIds: readonly RefId[]): Promise<readonly Follow[]>;
  findMarks(userId: UserId, actionIds: readonly ActionId[]): Promise<readonly ItemMark[]>;
  findBookmarks(userId: UserId, actionIds: readonly ActionId[]): Promise<readonly ActionId[]>;
  /** The member's interactions with these actions. */
  findOwn(userId: UserId, actionIds: readonly ActionId[]): Promise<readonly OwnInteractions[]>;
  findInteractionPages(names: readonly string[]): Promise<readonly InteractionPage[]>;
  loadProfile(identity: Identity, known: KnownReader | null): Promise<ReaderProfile>;
  cachedAction(id: ActionId, rev: number): Action | null;
  /** The process's cached directory as of a stamp; `null`: none. */
  names(directoryStamp: number): Promise<NameSources | null>;
}

function createLoader<T>(
  find: (ids: readonly string[]) => Promise<readonly T[]>,
  idOf: (found: T) => string,
): DataLoader<string, T | null> {
  return new DataLoader<string, T | null>(
    async (ids) => {
      const found = new Map((await find(ids)).map((value) => [idOf(value), value]));
      return ids.map((id) => found.get(id) ?? null);
    },
    { maxBatchSize: MAX_BATCH },
  );
}

/**
 * Opens a session: keys requested in one turn of the event loop become one query of at most 500, and results are cached for
 * the session's lifetime. Create one per request and one per live event; longer use would serve stale data.
 */
export function createReaderSession(sources: SessionSources, identity: Identity): ReaderSession {
  let names = (): Promise<NameSources | null> => NOT_KNOWN;
  const members = createLoader(
    async (ids) => ((await names()) ?? sources).findMembers(ids),
    (member) => member.userId,
  );
  const refs = createLoader(
    (ids) => sources.findRefs(ids),
    (ref) => ref.refId,
  );
  const refNames = createLoader(
    async (ids) => (await names())?.findRefNames(ids) ?? loaded(await refs.loadMany(ids)),
    (ref) => ref.refId,
  );
  let profile: Promise<ReaderProfile> | undefined;
  let directoryStamp: number | null = null;

  async function loadProfile(known: KnownReader | null): Promise<ReaderProfile> {
    const found = await sources.loadProfile(identity, known);
    // If a directory is cached, it was read at another time: let it provide the member.
    if (directoryStamp === null) members.prime(identity.userId, found.member);
    return found;
  }

  function know(known: KnownReader): void {
    if (profile === undefined) {
      profile = loadProfile(known);
      // Awaited by the callers that need it.
      profile.catch(() => undefined);
    }
    directoryStamp = known.directoryStamp;
    names = once(() => sources.names(known.directoryStamp));
    // Data loaded before the stamp may be older than the stamp.
    for (const loader of [members, refs, refNames]) loader.clearAll();
  }

  return {
    identity,
    profile: () => (profile ??= loadProfile(null)),
    know,
    get directoryStamp() {
      return directoryStamp;
    },
    directory: async () => (await names())?.directory ?? null,
    cached: (id, rev) => sources.cachedAction(id, rev),
    members,
    refs,
    refNames,
    actions: createLoader(
      (ids) => sources.findActions(ids),
      (action) => action.id,
    ),
    memberDetails: createLoader(
      (ids) => sources.findMemberDetails(ids),
      (details) => details.userId,
    ),
    refDetails: createLoader(
      (ids) => sources.findRefDetails(ids),
      (details) => details.refId,
    ),
    follows: createLoader(
      (ids) => sources.findFollows(identity.userId, ids),
      (follow) => follow.refId,
    ),
    own: createLoader(
      (ids) => sources.findOwn(identity.userId, ids),
      (own) => own.actionId,
    ),
    interactionPages: createLoader(
      (names) => sources.findInteractionPages(names),
      (page) => page.name,
    ),
    marks: createLoader(
      (ids) => sources.findMarks(identity.userId, ids),
      (mark) => mark.actionId,
    ),
    bookmarks: createLoader(
      (ids) => sources.findBookmarks(identity.userId, ids),
      (id) => id,
    ),
  };
}

const NOT_KNOWN: Promise<null> = Promise.resolve(null);

function loaded<T>(results: readonly (T | Error | null)[]): T[] {
  return results.flatMap((result) => {
    if (result instanceof Error) throw result;
    return result ?? [];
  });
}

/**
 * Batches loads by composite keys: keys requested in one turn of the event loop are loaded together, at most `size` at once.
 * Caches nothing.
 *
 * @param load returns the values in the order of the keys.
 */
export function batched<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  size: number,
): (key: K) => Promise<V> {
  const loader = new DataLoader<K, V>((keys) => load(keys), { cache: false, maxBatchSize: size });
  return (key) => loader.load(key);
}
