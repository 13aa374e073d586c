import type { Context } from './context.ts';
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
import { makeDue } from './reconcile-feed.ts';
import { counts, isPlain, readAhead, type FeedAhead } from './read-ahead.ts';
import { entriesBelow, findUnstored, pulledEntries, pulledFromAhead } from './unstored-entries.ts';

/** Where the entry of an action comes from: the store, pulling, or the actions themselves. */
export interface LocatedEntry {
  readonly entry: FeedEntry;
  readonly path: 'STORED' | 'PULLED' | 'SOURCE';
}

/** A complete feed per the definition, whatever the sources of its entries. */
export interface FeedReader {
  /**
   * At most `limit` entries in feed order; fewer means the end. One query while the store has the requested range and
   * nothing is pulled. For entries below the floor, pulled entries, and while the store is away, see `source.ts`.
   * @param ahead result of the same query, started while the reader was being looked up.
   */
  page(reader: ReaderProfile, query: FeedQuery, ahead?: FeedAhead): Promise<readonly FeedEntry[]>;
  /** Starts reading a page from the store before the reader is known, which saves a round trip. */
  readAhead(userId: UserId, query: FeedQuery): FeedAhead;
  /** The entries for the given actions, unordered; actions not in the feed are left out. */
  find(reader: ReaderProfile, actionIds: readonly ActionId[]): Promise<readonly FeedEntry[]>;
  /** The entry for one action and its source; `null` when it is not in the feed. */
  locate(reader: ReaderProfile, actionId: ActionId): Promise<LocatedEntry | null>;
}

export function feedReader(context: Context): FeedReader {
  const { feedStore } = context;
  const guesses = new PullGuesses();

  async function stored(
    reader: ReaderProfile,
    query: FeedQuery,
    ahead?: Promise<StoredPage>,
  ): Promise<{ readonly entries: readonly FeedEntry[]; readonly floor: FeedPosition | null }> {
    if (isAboveAll(reader.floor)) return { entries: [], floor: FLOOR_ABOVE_ALL };
    const page = await (ahead ?? feedStore.page({ ...query, userId: reader.userId }));
    if (page.isLost === true && !reader.isRebuilding) await makeDue(context, [reader.userId]);
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
      ...(await entriesBelow(context, reader, floor, { ...query, limit: limit - upper.length })),
    ];
  }

  /**
   * Stored and pulled entries down to the floor. The stored ones limit how far back to pull, so pulling comes second, unless
   * the pulled entries read together with the page, by a guess from the previous page, suffice.
   */
  async function withPulled(
    reader: ReaderProfile,
    { entries, floor }: Pick<StoredPage, 'entries' | 'floor'>,
    query: FeedQuery,
    ahead?: FeedAhead,
  ): Promise<readonly FeedEntry[]> {
    // Without stored entries the whole feed is read from the source.
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
    const guessed = read === null ? null : await pulledFromAhead(context, reader, bounded, read);
    if (read !== null && guessed !== null) {
      const upper = merged(guessed.entries);
      if (isCertain(read.guess.above, bounded.since, upper[limit - 1])) {
        remember(upper, guessed.actions);
        return upper;
      }
    }
    const pulled = await pulledEntries(context, reader, bounded);
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
    return merge(entries, await findUnstored(context, reader, floor, missing));
  }

  async function locate(reader: ReaderProfile, actionId: ActionId): Promise<LocatedEntry | null> {
    const [entry] = await find(reader, [actionId]);
    if (entry === undefined) return null;
    if (entry.reasons.includes('PULL')) return { entry, path: 'PULLED' };
    const { floor } = await stored(reader, { limit: 1 });
    return { entry, path: floor === null || isAbove(entry, floor) ? 'STORED' : 'SOURCE' };
  }

  /** Runs a read. If the store cannot be reached, repeats it as if nothing were stored, and never mixes the two. */
  async function withOrWithoutStore<T>(
    reader: ReaderProfile,
    read: (reader: ReaderProfile) => Promise<T>,
  ): Promise<T> {
    try {
      return await read(reader);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      context.onStoreUnavailable(error);
      return read({ ...reader, floor: FLOOR_ABOVE_ALL });
    }
  }

  return {
    async page(reader, query, ahead) {
      const read = ahead !== undefined && (await counts(reader, ahead)) ? ahead : undefined;
      return withOrWithoutStore(reader, (as) => page(as, query, read));
    },
    readAhead: (userId, query) => readAhead(context, guesses, { ...query, userId }),
    find: (reader, actionIds) => withOrWithoutStore(reader, (as) => find(as, actionIds)),
    locate: (reader, actionId) => withOrWithoutStore(reader, (as) => locate(as, actionId)),
  };
}

/** Whether actions last touched at or before that time, which were not examined, can be ruled out for the page. */
function isCertain(lookedAbove: Date | null, since: Date | undefined, last: FeedEntry | undefined): boolean {
  if (lookedAbove === null) return true;
  const above = lookedAbove.getTime();
  return (
    (since !== undefined && above < since.getTime()) ||
    (last !== undefined && above < last.relevancy.getTime())
  );
}

/** Excludes everything below the position, if there is one. */
function withSince(query: FeedQuery, position: FeedPosition | null): FeedQuery {
  if (position === null) return query;
  const { since } = query;
  const isCloser = since === undefined || since.getTime() < position.relevancy.getTime();
  return isCloser ? { ...query, since: position.relevancy } : query;
}

/** Merges in feed order, without duplicates; the pulled entry wins because it is up to date. */
function merge(stored: readonly FeedEntry[], pulled: readonly FeedEntry[]): FeedEntry[] {
  if (pulled.length === 0) return [...stored];
  const newer = new Set(pulled.map((entry) => entry.actionId));
  return [...stored.filter((entry) => !newer.has(entry.actionId)), ...pulled].sort(compareFeedPositions);
}
