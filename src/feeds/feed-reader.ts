import type { Action, ActionId, UserId } from '../domain/action.ts';
import { positionAbove } from '../domain/cursor.ts';
import {
  compareFeedPositions,
  FLOOR_ABOVE_ALL,
  type FeedEntry,
  type FeedPosition,
} from '../domain/newsfeed-item.ts';
import type { Follow, ReaderProfile } from '../domain/viewer.ts';
import { followableIds } from '../domain/visibility.ts';
import type { ActionCache } from '../storage/action-cache.ts';
import type { ActionsRepository } from '../storage/actions.ts';
import { StoreUnavailable } from '../storage/errors.ts';
import type { FollowsRepository } from '../storage/follows.ts';
import type { PulledRefs } from '../storage/pulled-refs.ts';
import type { FeedPageQuery, FeedStore, KnownReader, StoredPage } from './feed-store.ts';
import { readFromSource, type SourceDependencies, type SourceQuery } from './source.ts';
import { entriesOf, followsWithSpans, sourceKeys } from './membership.ts';
import { clock } from '../lib/clock.ts';

export interface FeedReaderDependencies extends SourceDependencies {
  readonly feedStore: Pick<FeedStore, 'page' | 'open' | 'find'>;
  readonly actions: Pick<ActionsRepository, 'findByIds'>;
  /** Holds what is read for a page, so that it need not be read again to show it. */
  readonly actionCache: Pick<ActionCache, 'keep'>;
  readonly pulledRefs: Pick<PulledRefs, 'known'>;
  readonly follows: SourceDependencies['follows'] & Pick<FollowsRepository, 'all' | 'find'>;
  /** The store has lost the reader's feed, and no rebuild is due yet. */
  readonly onLost: (userId: UserId) => Promise<void>;
  /** The store could not be reached, and a read was served from the actions instead. */
  readonly onStoreUnavailable: (error: StoreUnavailable) => void;
}

export type FeedQuery = Omit<FeedPageQuery, 'userId'>;

/** Where the entry of an action comes from: what is stored, what is pulled, or the actions themselves. */
export interface LocatedEntry {
  readonly entry: FeedEntry;
  readonly path: 'STORED' | 'PULLED' | 'SOURCE';
}

/** A page that the store has been asked for before its reader was known. Neither promise has to be awaited. */
export interface FeedAhead {
  /** What the store has told of the reader besides, read before the page; null: nothing. */
  readonly known: Promise<KnownReader | null>;
  readonly page: Promise<StoredPage>;
  /** When it was begun, by the clock that processes share. */
  readonly begunAt: number;
}

/** A feed as the definition has it, wherever its entries come from. */
export interface FeedReader {
  /**
   * Entries in feed order, at most `limit`; fewer means that there are no more. One query while the store holds what is
   * asked for and nothing is pulled; below the floor, for what is pulled, and while the store is away, see `source.ts`.
   * @param ahead what was read of the same query while the reader was looked up.
   */
  page(reader: ReaderProfile, query: FeedQuery, ahead?: FeedAhead): Promise<readonly FeedEntry[]>;
  /** Asks the store for a page while its reader is not known yet, which saves a round trip. */
  readAhead(userId: UserId, query: FeedQuery): FeedAhead;
  /** The entries for the given actions, in no particular order; what is not in the feed is left out. */
  find(reader: ReaderProfile, actionIds: readonly ActionId[]): Promise<readonly FeedEntry[]>;
  /** The entry for one action, and where pages have it from; null where it is not in the feed. */
  locate(reader: ReaderProfile, actionId: ActionId): Promise<LocatedEntry | null>;
}

/**
 * What was read of a store counts only if the reader's profile already vouched for the store when it was read. Read
 * before the profile, that holds unless a rebuild came to its end in between: by what the profile says now there would be
 * no hole where there was one then. So, unless the store has read the profile before the page, the rebuild must have ended before the read began by more than clocks of hosts
 * differ and a write waits for the database.
 */
const SETTLED_AFTER_MS = 300_000;

export function feedReader(dependencies: FeedReaderDependencies): FeedReader {
  const { feedStore, follows, actionCache, pulledRefs } = dependencies;
  const keep = (actions: readonly Action[]): Promise<void> => actionCache.keep(actions);

  async function stored(
    reader: ReaderProfile,
    query: FeedQuery,
    ahead?: Promise<StoredPage>,
  ): Promise<{ readonly entries: readonly FeedEntry[]; readonly floor: FeedPosition | null }> {
    if (isAboveAll(reader.floor)) return { entries: [], floor: FLOOR_ABOVE_ALL };
    const page = await (ahead ?? feedStore.page({ ...query, userId: reader.userId }));
    if (page.isLost === true && !reader.isRebuilding) await dependencies.onLost(reader.userId);
    const floor = higher(reader.floor, page.floor);
    return {
      entries: floor === null ? page.entries : page.entries.filter((entry) => isAbove(entry, floor)),
      floor,
    };
  }

  /** Those of pulled refs are known already. */
  async function followsOfRefs(
    { userId, pulledFollows }: ReaderProfile,
    actions: readonly Action[],
  ): Promise<readonly Follow[]> {
    const known = new Set(pulledFollows.map(({ refId }) => refId));
    const refIds = [...new Set(actions.flatMap(followableIds))].filter((refId) => !known.has(refId));
    return refIds.length === 0 ? pulledFollows : [...pulledFollows, ...(await follows.find(userId, refIds))];
  }

  function pulled(reader: ReaderProfile, query: SourceQuery): Promise<readonly FeedEntry[]> {
    if (reader.pulledFollows.length === 0) return Promise.resolve([]);
    const pullRefIds = reader.pulledFollows.map((follow) => follow.refId);
    const keys = { audience: [], refIds: [], pullRefIds, passerIds: [] };
    const followsOf = (actions: readonly Action[]): Promise<readonly Follow[]> =>
      followsOfRefs(reader, actions);
    return readFromSource(dependencies, { reader, keys, followsOf, keep }, { ...query, mayBeLittle: true });
  }

  async function below(
    reader: ReaderProfile,
    floor: FeedPosition,
    query: SourceQuery,
  ): Promise<readonly FeedEntry[]> {
    const all = await followsWithSpans(dependencies, reader.userId);
    const read = (from: SourceQuery): Promise<readonly FeedEntry[]> =>
      readFromSource(
        dependencies,
        { reader, keys: sourceKeys({ reader, follows: all }), followsOf: () => Promise.resolve(all), keep },
        from,
      );
    if (isAboveAll(floor)) return read(query);
    const entries: FeedEntry[] = [];
    let from: SourceQuery = { ...query, ...startBelow(floor, query.after) };
    for (;;) {
      const found = await read(from);
      // What the store still has above its floor has been given, or will be, from there.
      const held = await feedStore.find(
        reader.userId,
        found.map((entry) => entry.actionId),
      );
      const above = new Set(held.filter((entry) => isAbove(entry, floor)).map((entry) => entry.actionId));
      entries.push(...found.filter((entry) => !above.has(entry.actionId)));
      const last = found.at(-1);
      if (last === undefined || found.length < from.limit || entries.length >= query.limit)
        return entries.slice(0, query.limit);
      // A bump put some of them above the floor meanwhile. Others take their places: a short piece would be the last one.
      from = { ...query, after: last };
    }
  }

  /** Entries that are in the feed although they are not stored: below the floor, or pulled. */
  async function unstored(reader: ReaderProfile, ids: readonly ActionId[]): Promise<readonly FeedEntry[]> {
    const { floor } = await stored(reader, { limit: 1 });
    if (floor === null && reader.pulledFollows.length === 0) return [];
    const actions = await dependencies.actions.findByIds(ids);
    // Asked for also where there is no such action: how much work it is must not tell whether there is one.
    const refIds = [...new Set(actions.flatMap(followableIds))];
    const own = await follows.find(reader.userId, refIds.length === 0 ? [NO_REF] : refIds);
    const entries = await entriesOf(dependencies, { reader, follows: own }, actions);
    return entries.filter(
      (entry) => (floor !== null && !isAbove(entry, floor)) || entry.reasons.includes('PULL'),
    );
  }

  async function page(
    reader: ReaderProfile,
    query: FeedQuery,
    ahead?: Promise<StoredPage>,
  ): Promise<readonly FeedEntry[]> {
    const { limit, since } = query;
    const { entries, floor } = await stored(reader, query, ahead);
    // Not at the same time: what is stored bounds how far back it has to be pulled. Where nothing is, all is below.
    const pull = isAboveAll(floor) ? [] : await pulled(reader, withSince(query, entries[limit - 1] ?? floor));
    const upper = merge(entries, floor === null ? pull : pull.filter((entry) => isAbove(entry, floor)));
    if (floor === null || upper.length >= limit) return upper.slice(0, limit);
    if (since !== undefined && floor.relevancy.getTime() < since.getTime()) return upper;
    return [...upper, ...(await below(reader, floor, { ...query, limit: limit - upper.length }))];
  }

  function readAhead(userId: UserId, query: FeedQuery): FeedAhead {
    const begunAt = clock.time();
    const asked = { ...query, userId };
    const { open } = feedStore;
    const opening = open === undefined ? undefined : pulledRefs.known().then((pulled) => open(asked, pulled));
    const ahead: FeedAhead = {
      begunAt,
      known: opening === undefined ? NOTHING : opening.then((opened) => opened?.reader ?? null),
      page:
        opening === undefined
          ? feedStore.page(asked)
          : opening.then((opened) => opened ?? feedStore.page(asked)),
    };
    // Awaited by who needs them; for others they may fail.
    for (const promise of [ahead.known, ahead.page]) promise.catch(() => undefined);
    return ahead;
  }

  /** Whether what was read ahead counts: see `SETTLED_AFTER_MS`. */
  async function counts({ rebuiltAt }: ReaderProfile, { begunAt, known }: FeedAhead): Promise<boolean> {
    const isSettled = rebuiltAt === null || begunAt - rebuiltAt.getTime() > SETTLED_AFTER_MS;
    return isSettled || (await known) !== null;
  }

  async function find(reader: ReaderProfile, actionIds: readonly ActionId[]): Promise<readonly FeedEntry[]> {
    if (actionIds.length === 0) return [];
    const held = isAboveAll(reader.floor) ? [] : await feedStore.find(reader.userId, actionIds);
    const isPulled = reader.pulledFollows.length > 0;
    const known = new Set(held.map((entry) => entry.actionId));
    const missing = isPulled ? actionIds : actionIds.filter((id) => !known.has(id));
    if (missing.length === 0) return held;
    return merge(held, await unstored(reader, missing));
  }

  async function locate(reader: ReaderProfile, actionId: ActionId): Promise<LocatedEntry | null> {
    const [entry] = await find(reader, [actionId]);
    if (entry === undefined) return null;
    if (entry.reasons.includes('PULL')) return { entry, path: 'PULLED' };
    const { floor } = await stored(reader, { limit: 1 });
    return { entry, path: floor === null || isAbove(entry, floor) ? 'STORED' : 'SOURCE' };
  }

  /** Reads; where the store cannot be reached, reads again as if it stored nothing: never half of either. */
  async function withOrWithoutStore<T>(
    reader: ReaderProfile,
    read: (reader: ReaderProfile) => Promise<T>,
  ): Promise<T> {
    try {
      return await read(reader);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      dependencies.onStoreUnavailable(error);
      return read({ ...reader, floor: FLOOR_ABOVE_ALL });
    }
  }

  return {
    async page(reader, query, ahead) {
      const read = ahead !== undefined && (await counts(reader, ahead)) ? ahead.page : undefined;
      return withOrWithoutStore(reader, (as) => page(as, query, read));
    },
    readAhead,
    find: (reader, actionIds) => withOrWithoutStore(reader, (as) => find(as, actionIds)),
    locate: (reader, actionId) => withOrWithoutStore(reader, (as) => locate(as, actionId)),
  };
}

const NOTHING: Promise<null> = Promise.resolve(null);

/** Not an id that a ref can have. */
const NO_REF = '';

function isAboveAll(floor: FeedPosition | null): boolean {
  return floor !== null && compareFeedPositions(floor, FLOOR_ABOVE_ALL) === 0;
}

function isAbove(position: FeedPosition, floor: FeedPosition): boolean {
  return compareFeedPositions(position, floor) < 0;
}

function higher(a: FeedPosition | null, b: FeedPosition | null): FeedPosition | null {
  if (a === null || b === null) return a ?? b;
  return isAbove(a, b) ? a : b;
}

/** Nothing is wanted that is before the position, if there is one. */
function withSince(query: FeedQuery, position: FeedPosition | null): FeedQuery {
  if (position === null) return query;
  const { since } = query;
  const isCloser = since === undefined || since.getTime() < position.relevancy.getTime();
  return isCloser ? { ...query, since: position.relevancy } : query;
}

/** Where to go on from the floor, which belongs to what lies below it; nothing when everything does. */
function startBelow(floor: FeedPosition, after: FeedPosition | undefined): { after?: FeedPosition } {
  if (isAboveAll(floor)) return {};
  const { time, actionId } = positionAbove({ time: floor.relevancy, actionId: floor.actionId });
  const start = { relevancy: time, actionId };
  return { after: after === undefined || isAbove(after, start) ? start : after };
}

/** In feed order, each action once; what is pulled counts where both have it, since it is as of now. */
function merge(stored: readonly FeedEntry[], pulled: readonly FeedEntry[]): FeedEntry[] {
  if (pulled.length === 0) return [...stored];
  const newer = new Set(pulled.map((entry) => entry.actionId));
  return [...stored.filter((entry) => !newer.has(entry.actionId)), ...pulled].sort(compareFeedPositions);
}
