import type { Action, ActionId, UserId } from '../domain/action.ts';
import {
  compareFeedPositions,
  FLOOR_ABOVE_ALL,
  type FeedEntry,
  type FeedPosition,
} from '../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../domain/viewer.ts';
import { StoreUnavailable } from '../storage/database/errors.ts';
import type { FeedQuery, StoredPage } from './feed-store.ts';
import { higher, isAbove, isAboveAll } from './floor.ts';
import { PullGuesses } from '../storage/follows/pull-guesses.ts';
import { counts, isPlain, readAhead, type FeedAhead } from './read-ahead.ts';
import { entriesBelow, findUnstored, pulledEntries, pulledFromAhead } from './unstored-entries.ts';
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
  const guesses = new PullGuesses();

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
    ahead?: FeedAhead,
  ): Promise<readonly FeedEntry[]> {
    const { limit, since } = query;
    const page = await stored(reader, query, ahead?.page);
    const { floor } = page;
    const upper = await withPulled(reader, page, query, ahead);
    if (floor === null || upper.length >= limit) return upper.slice(0, limit);
    if (since !== undefined && floor.relevancy.getTime() < since.getTime()) return upper;
    return [
      ...upper,
      ...(await entriesBelow(dependencies, reader, floor, { ...query, limit: limit - upper.length })),
    ];
  }

  /**
   * What is stored and what is pulled, down to the floor. What is stored bounds how far back it has to be pulled, so that comes
   * afterwards; unless what was needed for the page before was read with the stored page, and suffices again.
   */
  async function withPulled(
    reader: ReaderProfile,
    { entries, floor }: Pick<StoredPage, 'entries' | 'floor'>,
    query: FeedQuery,
    ahead?: FeedAhead,
  ): Promise<readonly FeedEntry[]> {
    // Where nothing is stored, all is below.
    if (isAboveAll(floor) || reader.pulledFollows.length === 0) return entries;
    const { limit } = query;
    const bounded = withSince(query, entries[limit - 1] ?? floor);
    const merged = (pull: readonly FeedEntry[]): FeedEntry[] =>
      merge(entries, floor === null ? pull : pull.filter((entry) => isAbove(entry, floor)));
    const remember = (upper: readonly FeedEntry[], actions: readonly Action[]): void => {
      const lowest = upper[limit - 1]?.relevancy ?? bounded.since;
      const above = lowest === undefined ? null : new Date(lowest.getTime() - 1);
      const refIds = reader.pulledFollows.map(({ refId }) => refId);
      guesses.keep(reader.userId, { refIds, above, limit }, actions);
    };
    const read = isPlain(query) ? ((await ahead?.pulled) ?? null) : null;
    const guessed = read === null ? null : await pulledFromAhead(dependencies, reader, bounded, read);
    if (read !== null && guessed !== null) {
      const upper = merged(guessed.entries);
      if (isCertain(read.guess.above, bounded.since, upper[limit - 1])) {
        remember(upper, guessed.actions);
        return upper;
      }
    }
    const pulled = await pulledEntries(dependencies, reader, bounded);
    const upper = merged(pulled.entries);
    if (isPlain(query)) remember(upper, pulled.actions);
    return upper;
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
      const read = ahead !== undefined && (await counts(reader, ahead)) ? ahead : undefined;
      return withOrWithoutStore(reader, (as) => page(as, query, read));
    },
    readAhead: (userId, query) => readAhead(dependencies, guesses, { ...query, userId }),
    find: (reader, actionIds) => withOrWithoutStore(reader, (as) => find(as, actionIds)),
    locate: (reader, actionId) => withOrWithoutStore(reader, (as) => locate(as, actionId)),
  };
}

/** Whether no action that was last touched at that time or before, and was not looked at, can be on the page. */
function isCertain(lookedAbove: Date | null, since: Date | undefined, last: FeedEntry | undefined): boolean {
  if (lookedAbove === null) return true;
  const above = lookedAbove.getTime();
  return (
    (since !== undefined && above < since.getTime()) ||
    (last !== undefined && above < last.relevancy.getTime())
  );
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
