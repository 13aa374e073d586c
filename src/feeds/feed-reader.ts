import type { ActionId, UserId } from '../domain/action.ts';
import {
  compareFeedPositions,
  FLOOR_ABOVE_ALL,
  type FeedEntry,
  type FeedPosition,
} from '../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../domain/viewer.ts';
import { StoreUnavailable } from '../storage/errors.ts';
import type { FeedQuery, StoredPage } from './feed-store.ts';
import { higher, isAbove, isAboveAll } from './floor.ts';
import { counts, readAhead, type FeedAhead } from './read-ahead.ts';
import { entriesBelow, findUnstored, pulledEntries } from './unstored-entries.ts';
import type { FeedReaderDependencies } from './feed-dependencies.ts';

/** Where the entry of an action comes from: what is stored, what is pulled, or the actions themselves. */
export interface LocatedEntry {
  readonly entry: FeedEntry;
  readonly path: 'STORED' | 'PULLED' | 'SOURCE';
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

export function feedReader(dependencies: FeedReaderDependencies): FeedReader {
  const { feedStore } = dependencies;

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

  async function page(
    reader: ReaderProfile,
    query: FeedQuery,
    ahead?: Promise<StoredPage>,
  ): Promise<readonly FeedEntry[]> {
    const { limit, since } = query;
    const { entries, floor } = await stored(reader, query, ahead);
    // Not at the same time: what is stored bounds how far back it has to be pulled. Where nothing is, all is below.
    const pull = isAboveAll(floor)
      ? []
      : await pulledEntries(dependencies, reader, withSince(query, entries[limit - 1] ?? floor));
    const upper = merge(entries, floor === null ? pull : pull.filter((entry) => isAbove(entry, floor)));
    if (floor === null || upper.length >= limit) return upper.slice(0, limit);
    if (since !== undefined && floor.relevancy.getTime() < since.getTime()) return upper;
    return [
      ...upper,
      ...(await entriesBelow(dependencies, reader, floor, { ...query, limit: limit - upper.length })),
    ];
  }

  async function find(reader: ReaderProfile, actionIds: readonly ActionId[]): Promise<readonly FeedEntry[]> {
    if (actionIds.length === 0) return [];
    const entries = isAboveAll(reader.floor) ? [] : await feedStore.find(reader.userId, actionIds);
    const isPulled = reader.pulledFollows.length > 0;
    const known = new Set(entries.map((entry) => entry.actionId));
    const missing = isPulled ? actionIds : actionIds.filter((id) => !known.has(id));
    if (missing.length === 0) return entries;
    const { floor } = await stored(reader, { limit: 1 });
    return merge(entries, await findUnstored(dependencies, reader, floor, missing));
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
    readAhead: (userId, query) => readAhead(dependencies, userId, query),
    find: (reader, actionIds) => withOrWithoutStore(reader, (as) => find(as, actionIds)),
    locate: (reader, actionId) => withOrWithoutStore(reader, (as) => locate(as, actionId)),
  };
}

/** Nothing is wanted that is before the position, if there is one. */
function withSince(query: FeedQuery, position: FeedPosition | null): FeedQuery {
  if (position === null) return query;
  const { since } = query;
  const isCloser = since === undefined || since.getTime() < position.relevancy.getTime();
  return isCloser ? { ...query, since: position.relevancy } : query;
}

/** In feed order, each action once; what is pulled counts where both have it, since it is as of now. */
function merge(stored: readonly FeedEntry[], pulled: readonly FeedEntry[]): FeedEntry[] {
  if (pulled.length === 0) return [...stored];
  const newer = new Set(pulled.map((entry) => entry.actionId));
  return [...stored.filter((entry) => !newer.has(entry.actionId)), ...pulled].sort(compareFeedPositions);
}
