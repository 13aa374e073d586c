import type { Context } from './context.ts';
import type { ActionId, UserId, RefId } from '../domain/action.ts';
import {
  compareFeedPositions,
  FLOOR_ABOVE_ALL,
  type FeedEntry,
  type FeedPosition,
} from '../domain/newsfeed-item.ts';
import type { ReaderProfile, Follow } from '../domain/viewer.ts';
import { StoreUnavailable } from '../storage/database/errors.ts';
import type { Beside } from './store/known-answers.ts';
import {
  type KnownReader,
  type FeedQuery,
  type StoredPage,
  higher,
  isAbove,
  isAboveAll,
  isInRange,
  startBelow,
} from './feed-store.ts';
import { type FeedAhead, isPlain, isUsable, readAhead } from './read-ahead.ts';
import { pageWithReturned, withReturned } from './returned.ts';
import { PullGuesses, type PulledAhead } from './store/pulled-refs.ts';
import { Paces } from './store/paces.ts';
import { makeDue } from './reconcile-feed.ts';
import { KnownReadMarks } from './store/feeds.ts';
import { clock } from '../lib/clock.ts';
import { noting } from '../lib/noting.ts';
import { once } from '../lib/once.ts';
import { followableIds, orNone } from '../domain/visibility.ts';
import type { SourceAction, SourceKeys, SourceWindow } from '../storage/actions/source-actions.ts';
import {
  entriesOf,
  followsWithSpans,
  MAX_CANDIDATES,
  sourceKeys,
  StretchGuess,
  readConducted,
  readFromSource,
  type ConductedEntry,
  type ConductedQuery,
  type SourceReader,
  type ReadWindow,
} from './source.ts';

/** Where the entry of an action comes from: the store, pulling, or the actions themselves. */
interface LocatedEntry {
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
  /** The same, the newest actions first, from the actions. */
  conducted(reader: ReaderProfile, query: ConductedQuery): Promise<readonly ConductedEntry[]>;
  /**
   * Entries of actions that were recorded by a time and conducted at another or later, ahead of the clock, unordered. `null`: there are
   * more such actions than a few.
   */
  ahead(reader: ReaderProfile, times: AheadTimes): Promise<readonly FeedEntry[] | null>;
  /**
   * Starts reading a page from the store before the reader is known, which saves a round trip.
   * @param begin writes down that there is such a reader; called if nothing is stored about them
   * @param beside what else to read of the reader, if the store can; `null`: nothing
   */
  readAhead(
    userId: UserId,
    query: FeedQuery,
    begin: () => Promise<unknown>,
    beside: Beside | null,
  ): FeedAhead;
  /**
   * The same for at most `limit` entries that may be unread: those above the read mark, as far as this process knows it. Use
   * them only if the query does not begin above the mark.
   */
  unreadAhead(
    userId: UserId,
    limit: number,
    beside: Beside | null,
  ): { readonly query: FeedQuery; readonly ahead: FeedAhead };
  /**
   * The entries for the given actions, unordered; actions not in the feed are left out.
   * @param through what is read of storage. Default: all of it
   */
  find(
    reader: ReaderProfile,
    actionIds: readonly ActionId[],
    through?: (context: Context) => Context,
  ): Promise<readonly FeedEntry[]>;
  /** The same as a feed of their own, each looked up once. Its pages take no more than what is stored as long as that has them. */
  among(reader: ReaderProfile, actionIds: readonly ActionId[]): FewEntries;
  /** The entry for one action and its source; `null` when it is not in the feed. */
  locate(reader: ReaderProfile, actionId: ActionId): Promise<LocatedEntry | null>;
}

export interface AheadTimes {
  readonly recordedBy: Date;
  readonly since: Date;
}

/** Some entries of a feed, in its order. */
export interface FewEntries {
  /** At most `limit` entries; fewer means the end. */
  page(query: FeedQuery): Promise<readonly FeedEntry[]>;
}

/** The context of reads of a feed: storage, and the feeds in it. */
export interface FeedReads extends Context {
  readonly feedReader: FeedReader;
}

/** A process expects this of the next page of a reader. */
interface Remembered {
  readonly guesses: PullGuesses;
  readonly paces: Paces;
}

export function feedReader(context: Context): FeedReader {
  const guesses = new PullGuesses();
  const remembered: Remembered = { guesses, paces: new Paces() };
  const lastReads = new KnownReadMarks();
  const base: Pick<FeedReader, 'page' | 'find'> = {
    async page(reader, query, ahead) {
      const read = ahead !== undefined && (await isUsable(reader, ahead)) ? ahead : undefined;
      if (read === undefined) ahead?.readsOn?.();
      const noted = read?.readsOn === undefined ? context : noting(context, read.readsOn, KEPT);
      return withOrWithoutStore(noted, reader, (as) => readPage(noted, remembered, as, query, read));
    },
    find: (reader, actionIds, through) =>
      withOrWithoutStore(context, reader, (as) => find(through?.(context) ?? context, as, actionIds)),
  };

  return {
    page: (reader, query, ahead) => pageWithReturned(base, reader, query, base.page(reader, query, ahead)),
    readAhead: (userId, query, begin, beside) =>
      readAhead(context, guesses, { query: { ...query, userId }, beside }, begin),
    unreadAhead(userId, limit, beside) {
      const lastRead = lastReads.of(userId);
      const query = { limit, ...(lastRead === null ? {} : { since: new Date(lastRead.getTime() + 1) }) };
      const asked = { query: { ...query, userId }, beside };
      const ahead = readAhead(context, guesses, asked, () => context.feeds.begin(userId));
      const known = async (): Promise<KnownReader | null> => {
        const reader = await ahead.known();
        lastReads.keep(userId, reader?.marks.lastRead ?? null);
        return reader;
      };
      return { query, ahead: { ...ahead, known } };
    },
    async conducted(reader, query) {
      // From a place where no entry is, the time until the first one says nothing of those that follow.
      const isAtEntry = query.after !== null && query.after.actionId !== '';
      const paces = isAtEntry || query.wanted !== undefined ? remembered.paces : new Paces();
      const [source, reaches] = await Promise.all([
        sourceOf(context, paces, reader, FLOOR_ABOVE_ALL, query),
        paces.of(reader.userId) === null ? storedDownTo(context, reader, query) : null,
      ]);
      const entries = await source((of) => readConducted(context, { ...of, reaches }, query));
      const shown = await withReturned(reader, Promise.resolve(entries));
      return shown.map((entry, index) => ({
        ...entry,
        conducted: entries[index]?.conducted ?? entry.relevancy,
      }));
    },
    async ahead(reader, times) {
      const asked = { ...times, most: MOST_AHEAD };
      const ids = await context.sourceActions.conductedAhead(reader.userId, asked);
      return ids && withReturned(reader, base.find(reader, ids));
    },
    find: (reader, actionIds, through) => withReturned(reader, base.find(reader, actionIds, through)),
    among: (reader, actionIds) => among(context, base, reader, actionIds),
    locate: (reader, actionId) => withOrWithoutStore(context, reader, (as) => locate(context, as, actionId)),
  };
}

/** Actions conducted ahead of the clock that are looked up: clocks of applications are seldom so wrong. */
const MOST_AHEAD = 100;

/** Nothing is read of these: they only keep for later. */
const KEPT = ['actionCache'] as const;

async function stored(
  context: Context,
  reader: ReaderProfile,
  query: FeedQuery,
  ahead?: FeedAhead,
): Promise<{ readonly entries: readonly FeedEntry[]; readonly floor: FeedPosition | null }> {
  if (isAboveAll(reader.floor)) return { entries: [], floor: FLOOR_ABOVE_ALL };
  const page = await (ahead?.page() ?? context.feedStore.page({ ...query, userId: reader.userId }));
  if (page.isLost === true && !reader.isRebuilding) await makeDue(context, [reader.userId]);
  const floor = higher(reader.floor, page.floor);
  return {
    entries: floor === null ? page.entries : page.entries.filter((entry) => isAbove(entry, floor)),
    floor,
  };
}

async function readPage(
  context: Context,
  { guesses, paces }: Remembered,
  reader: ReaderProfile,
  query: FeedQuery,
  ahead?: FeedAhead,
): Promise<readonly FeedEntry[]> {
  const { limit, since, wanted } = query;
  // Actions of one ref have an index, and are nearly always fewer than those stored.
  if (wanted?.refId !== undefined) return entriesBelow(context, paces, reader, FLOOR_ABOVE_ALL, query);
  const page = await stored(context, reader, query, ahead);
  const { floor } = page;
  const upper = await withPulled(context, guesses, reader, page, query, ahead);
  if (floor === null || upper.length >= limit) return upper.slice(0, limit);
  if (since !== undefined && floor.relevancy.getTime() < since.getTime()) return upper;
  return [
    ...upper,
    ...(await entriesBelow(context, paces, reader, floor, { ...query, limit: limit - upper.length })),
  ];
}

/**
 * Stored and pulled entries down to the floor. The stored ones limit how far back to pull, so pulling comes second, unless
 * the pulled entries read together with the page, by a guess from the previous page, suffice.
 */
async function withPulled(
  context: Context,
  guesses: PullGuesses,
  reader: ReaderProfile,
  { entries, floor }: StoredPage,
  query: FeedQuery,
  ahead?: FeedAhead,
): Promise<readonly FeedEntry[]> {
  // Without stored entries the whole feed is read from the source.
  if (isAboveAll(floor) || reader.pulledFollows.length === 0) return entries;
  const { limit } = query;
  // Pulled entries reach down to the floor, or to the end of the page.
  const { extent: _extent, ...whole } = query;
  const bounded = withSince(whole, entries[limit - 1] ?? floor);
  const merged = (pull: readonly FeedEntry[]): FeedEntry[] =>
    merge(entries, floor === null ? pull : pull.filter((entry) => isAbove(entry, floor)));
  const remember = (upper: readonly FeedEntry[], actions: readonly SourceAction[]): void => {
    const lowest = upper[limit - 1]?.relevancy ?? bounded.since;
    const above = lowest === undefined ? null : new Date(lowest.getTime() - 1);
    const refIds = reader.pulledFollows.map(({ refId }) => refId);
    guesses.keep(reader.userId, { refIds, above, limit }, actions);
  };
  const read = isPlain(query) ? ((await ahead?.pulled()) ?? null) : null;
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

async function find(
  context: Context,
  reader: ReaderProfile,
  actionIds: readonly ActionId[],
): Promise<readonly FeedEntry[]> {
  if (actionIds.length === 0) return [];
  const entries = await findStored(context, reader, actionIds);
  const isPulled = reader.pulledFollows.length > 0;
  const known = new Set(entries.map((entry) => entry.actionId));
  const missing = isPulled ? actionIds : actionIds.filter((id) => !known.has(id));
  if (missing.length === 0) return entries;
  return merge(entries, await findUnstored(context, reader, await floorOfStored(context, reader), missing));
}

/** The stored feed is complete above it. */
async function floorOfStored(context: Context, reader: ReaderProfile): Promise<FeedPosition | null> {
  if (context.feedStore.isUncapped === true) return reader.floor;
  return (await stored(context, reader, { limit: 1 })).floor;
}

/** Those of them that are stored. */
async function findStored(
  { feedStore }: Context,
  { userId, floor }: ReaderProfile,
  actionIds: readonly ActionId[],
): Promise<readonly FeedEntry[]> {
  return isAboveAll(floor) ? [] : feedStore.find(userId, actionIds);
}

function among(
  context: Context,
  base: Pick<FeedReader, 'find'>,
  reader: ReaderProfile,
  actionIds: readonly ActionId[],
): FewEntries {
  // Above all others, unless some are pulled or have come back.
  const top = once(async () => {
    const ended = await reader.returned();
    if (ended.size > 0 || reader.pulledFollows.length > 0 || actionIds.length === 0) return [];
    return withOrWithoutStore(context, reader, async (as) => {
      const [entries, floor] = await Promise.all([
        findStored(context, as, actionIds),
        floorOfStored(context, as),
      ]);
      return entries.filter((entry) => isAbove(entry, floor)).sort(compareFeedPositions);
    });
  });
  const all = once(async () => {
    const known = await top();
    const isKnown = new Set(known.map(({ actionId }) => actionId));
    const others = await withReturned(
      reader,
      base.find(
        reader,
        actionIds.filter((id) => !isKnown.has(id)),
      ),
    );
    return [...known, ...others].sort(compareFeedPositions);
  });
  return {
    async page(query) {
      const nextOf = (entries: readonly FeedEntry[]): readonly FeedEntry[] =>
        entries.filter((entry) => isInRange(entry, query)).slice(0, query.limit);
      const first = nextOf(await top());
      return first.length === query.limit ? first : nextOf(await all());
    },
  };
}

async function locate(
  context: Context,
  reader: ReaderProfile,
  actionId: ActionId,
): Promise<LocatedEntry | null> {
  const [entry] = await find(context, reader, [actionId]);
  if (entry === undefined) return null;
  const [shown = entry] = await withReturned(reader, Promise.resolve([entry]));
  if (entry.reasons.includes('PULL')) return { entry: shown, path: 'PULLED' };
  const floor = await floorOfStored(context, reader);
  return { entry: shown, path: floor === null || isAbove(entry, floor) ? 'STORED' : 'SOURCE' };
}

/** Runs a read. If the store cannot be reached, repeats it as if nothing were stored, and never mixes the two. */
async function withOrWithoutStore<T>(
  context: Context,
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

/** Limit of pulled refs that one command reads together with the follows that decide. */
const MOST_IN_ONE = 1_000;

/** The reader's follows of these actions' refs. Those of pulled refs are already known. */
async function followsOfRefs(
  { follows }: Context,
  { userId, pulledFollows }: ReaderProfile,
  actions: readonly SourceAction[],
): Promise<readonly Follow[]> {
  const known = new Set(pulledFollows.map(({ refId }) => refId));
  const refIds = [...new Set(actions.flatMap(followableIds))].filter((refId) => !known.has(refId));
  return refIds.length === 0 ? pulledFollows : [...pulledFollows, ...(await follows.find(userId, refIds))];
}

/** Pulled entries of a page, and their actions. */
interface Pulled {
  readonly entries: readonly FeedEntry[];
  readonly actions: readonly SourceAction[];
}

const NOTHING_PULLED: Pulled = { entries: [], actions: [] };

async function pulledEntries(context: Context, reader: ReaderProfile, query: FeedQuery): Promise<Pulled> {
  if (reader.pulledFollows.length === 0) return NOTHING_PULLED;
  const pullRefIds = reader.pulledFollows.map((follow) => follow.refId);
  const keys = pullKeys(pullRefIds);
  const followsOf = (actions: readonly SourceAction[]): Promise<readonly Follow[]> =>
    followsOfRefs(context, reader, actions);
  const tryFullRead = async (window: SourceWindow, most: number): Promise<ReadWindow | null> => {
    const { sourceActions, feedStore } = context;
    // A store with `open` is not sharded, so one command can read several collections.
    const isOneCommand = feedStore.open !== undefined && pullRefIds.length <= MOST_IN_ONE;
    if (!isOneCommand) {
      const { actions } = await sourceActions.candidates(keys, { window, most: most + 1 });
      return actions.length > most ? null : { actions, follows: await followsOf(actions) };
    }
    const read = await sourceActions.pulledWithFollows(reader.userId, pullRefIds, { window, limit: most });
    const { actions, follows } = read;
    if (actions.length > most) return null;
    context.actionCache.keep(actions);
    // The reader may also follow members who reshared them.
    if (actions.some(({ reshares }) => reshares.length > 0))
      return { actions, follows: await followsOf(actions) };
    const known = new Set(pullRefIds);
    return {
      actions,
      follows: [...reader.pulledFollows, ...follows.filter(({ refId }) => !known.has(refId))],
    };
  };
  let given: readonly SourceAction[] = [];
  const keep = (actions: readonly SourceAction[]): void => {
    given = actions;
  };
  const entries = await readFromSource(context, { reader, keys, followsOf, tryFullRead, keep }, query);
  return { entries, actions: given };
}

/**
 * The same from actions that were read ahead, with `latest` above the guess. `null` if the guess lacks a ref that the reader
 * follows.
 */
async function pulledFromAhead(
  context: Context,
  reader: ReaderProfile,
  query: FeedQuery,
  { guess, actions: read, follows, asked }: PulledAhead,
): Promise<Pulled | null> {
  const guessed = new Set(guess.refIds);
  const known = new Set(reader.pulledFollows.map(({ refId }) => refId));
  if (reader.pulledFollows.some(({ refId }) => !guessed.has(refId))) return null;
  const actions = read.filter(({ pullRefIds }) => pullRefIds.some((refId) => known.has(refId)));
  const areAllAsked = actions.every((action) =>
    followableIds(action).every((refId) => known.has(refId) || asked.has(refId)),
  );
  const looked = {
    actions,
    follows: areAllAsked
      ? [...reader.pulledFollows, ...follows.filter(({ refId }) => !known.has(refId))]
      : await followsOfRefs(context, reader, actions),
  };
  const entries = await readFromSource(
    context,
    {
      reader,
      keys: pullKeys([...known]),
      followsOf: () => Promise.resolve(looked.follows),
      tryFullRead: () => Promise.resolve(looked),
    },
    query,
  );
  context.actionCache.keep(actions);
  return { entries, actions };
}

function pullKeys(pullRefIds: readonly RefId[]): SourceKeys {
  return { audience: [], refIds: [], pullRefIds, passerIds: [] };
}

/**
 * As long as so many actions as are to be read took last time, or else above the floor, if it was reached by storing as many as are
 * kept. @param pace milliseconds for an action
 */
function firstStretch(
  { cap }: Context,
  pace: number | null,
  floor: FeedPosition,
  { limit, wanted }: Pick<FeedQuery, 'limit' | 'wanted'>,
): number | undefined {
  if (pace === null && isAboveAll(floor)) return undefined;
  const ofCap = (clock.time() - floor.relevancy.getTime()) / cap;
  const read = wanted === undefined ? 2 * limit : MAX_CANDIDATES;
  return Math.max(1, Math.floor((pace ?? ofCap) * read));
}

/**
 * The time down to which so many stored entries reach: most are where they were conducted, and a burst has very many in a moment. `null`:
 * fewer are stored.
 */
async function storedDownTo(
  context: Context,
  reader: ReaderProfile,
  { after, limit, wanted }: ConductedQuery,
): Promise<Date | null> {
  if (wanted !== undefined) return null;
  return withOrWithoutStore(context, reader, async (as) => {
    const { entries } = await stored(context, as, { limit, ...(after !== null && { until: after.time }) });
    const last = entries[limit - 1];
    return last === undefined ? null : new Date(last.relevancy.getTime() - 1);
  });
}

/** How actions reach the reader, for reads that remember how far they had to go. */
async function sourceOf(
  context: Context,
  paces: Paces,
  reader: ReaderProfile,
  floor: FeedPosition,
  query: Pick<FeedQuery, 'limit' | 'wanted' | 'extent'>,
): Promise<<T>(read: (of: SourceReader) => Promise<T>) => Promise<T>> {
  // Actions of one ref are read in the order of an index, and few follows decide them.
  if (query.wanted?.refId !== undefined) {
    const keys = sourceKeys({ reader, follows: [] });
    const followsOf = (actions: readonly SourceAction[]): Promise<readonly Follow[]> =>
      followsOfRefs(context, reader, actions);
    return (read) => read({ reader, keys, followsOf, guess: new StretchGuess(Infinity) });
  }
  const read = (): Promise<readonly Follow[]> => followsWithSpans(context, reader.userId);
  const follows = await (query.extent?.follows(read) ?? read());
  const pace = paces.of(reader.userId);
  const guess = new StretchGuess(firstStretch(context, pace, floor, query), pace);
  const of = {
    ...{ reader, guess, keys: sourceKeys({ reader, follows }) },
    followsOf: () => Promise.resolve(follows),
  };
  return async (readFrom) => {
    const found = await readFrom(of);
    paces.keep(reader.userId, guess.pace);
    return found;
  };
}

/** Entries below the floor, from the actions. */
async function entriesBelow(
  context: Context,
  paces: Paces,
  reader: ReaderProfile,
  floor: FeedPosition,
  query: FeedQuery,
): Promise<readonly FeedEntry[]> {
  const source = await sourceOf(context, paces, reader, floor, query);
  const read = (from: FeedQuery): Promise<readonly FeedEntry[]> =>
    source((of) => readFromSource(context, of, from));
  if (isAboveAll(floor)) return read(query);
  const entries: FeedEntry[] = [];
  let from: FeedQuery = { ...query, ...startBelow(floor, query.after) };
  for (;;) {
    const found = await read(from);
    // Entries stored above the floor are returned from the store.
    const stored = await context.feedStore.find(
      reader.userId,
      found.map((entry) => entry.actionId),
    );
    const above = new Set(stored.filter((entry) => isAbove(entry, floor)).map((entry) => entry.actionId));
    entries.push(...found.filter((entry) => !above.has(entry.actionId)));
    const last = found.at(-1);
    if (last === undefined || found.length < from.limit || entries.length >= query.limit)
      return entries.slice(0, query.limit);
    // A bump moved some entries above the floor meanwhile. Read more: callers take a short result for the end.
    from = { ...query, after: last };
  }
}

/** Entries that are in the feed although they are not stored: below the floor, or pulled. */
async function findUnstored(
  context: Context,
  reader: ReaderProfile,
  floor: FeedPosition | null,
  ids: readonly ActionId[],
): Promise<readonly FeedEntry[]> {
  if (floor === null && reader.pulledFollows.length === 0) return [];
  const actions = await context.sourceActions.find(ids);
  // Also read if no such action exists, so that the time taken does not reveal it.
  const refIds = [...new Set(actions.flatMap(followableIds))];
  const own = await context.follows.find(reader.userId, orNone(refIds));
  const entries = await entriesOf(context, { reader, follows: own }, actions);
  return entries.filter(
    (entry) => (floor !== null && !isAbove(entry, floor)) || entry.reasons.includes('PULL'),
  );
}
