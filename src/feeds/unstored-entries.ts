import type { Context } from './context.ts';
import type { Action, ActionId, RefId } from '../domain/action.ts';
import type { FeedEntry, FeedPosition } from '../domain/newsfeed-item.ts';
import type { Follow, ReaderProfile } from '../domain/viewer.ts';
import { followableIds, orNone } from '../domain/visibility.ts';
import type { SourceKeys, SourceWindow } from '../storage/actions/source-actions.ts';
import type { FeedQuery } from './feed-store.ts';
import { isAbove, isAboveAll, startBelow } from './floor.ts';
import { entriesOf, followsWithSpans, sourceKeys } from './membership.ts';
import { readFromSource, type ReadWindow } from './source.ts';
import type { PulledAhead } from '../storage/follows/pull-guesses.ts';

/** Limit of pulled refs that one command reads together with the follows that decide. */
const MOST_IN_ONE = 1_000;

/** The reader's follows of these actions' refs. Those of pulled refs are already known. */
async function followsOfRefs(
  { follows }: Context,
  { userId, pulledFollows }: ReaderProfile,
  actions: readonly Action[],
): Promise<readonly Follow[]> {
  const known = new Set(pulledFollows.map(({ refId }) => refId));
  const refIds = [...new Set(actions.flatMap(followableIds))].filter((refId) => !known.has(refId));
  return refIds.length === 0 ? pulledFollows : [...pulledFollows, ...(await follows.find(userId, refIds))];
}

/** Pulled entries of a page, and their actions. */
export interface Pulled {
  readonly entries: readonly FeedEntry[];
  readonly actions: readonly Action[];
}

const NOTHING_PULLED: Pulled = { entries: [], actions: [] };

export async function pulledEntries(
  context: Context,
  reader: ReaderProfile,
  query: FeedQuery,
): Promise<Pulled> {
  if (reader.pulledFollows.length === 0) return NOTHING_PULLED;
  const pullRefIds = reader.pulledFollows.map((follow) => follow.refId);
  const keys = pullKeys(pullRefIds);
  const followsOf = (actions: readonly Action[]): Promise<readonly Follow[]> =>
    followsOfRefs(context, reader, actions);
  const tryFullRead = async (window: SourceWindow, most: number): Promise<ReadWindow | null> => {
    const { sourceActions, feedStore } = context;
    // A store with `open` is not sharded, so one command can read several collections.
    const isOneCommand = feedStore.open !== undefined && pullRefIds.length <= MOST_IN_ONE;
    const read = isOneCommand
      ? await sourceActions.pulledWithFollows(reader.userId, pullRefIds, { window, limit: most })
      : { actions: await sourceActions.candidates(keys, window, most), follows: null };
    const { actions, follows } = read;
    if (actions.length > most) return null;
    // The reader may also follow members who reshared them.
    if (follows === null || actions.some(({ reshares }) => reshares.length > 0))
      return { actions, follows: await followsOf(actions) };
    const known = new Set(pullRefIds);
    return {
      actions,
      follows: [...reader.pulledFollows, ...follows.filter(({ refId }) => !known.has(refId))],
    };
  };
  let given: readonly Action[] = [];
  const keep = (actions: readonly Action[]): void => {
    given = actions;
    context.actionCache.keep(actions);
  };
  const entries = await readFromSource(context, { reader, keys, followsOf, tryFullRead, keep }, query);
  return { entries, actions: given };
}

/**
 * The same from actions that were read ahead, with `latest` above the guess. `null` if the guess lacks a ref that the reader
 * follows.
 */
export async function pulledFromAhead(
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
      keep: keeping(context),
    },
    query,
  );
  return { entries, actions };
}

function pullKeys(pullRefIds: readonly RefId[]): SourceKeys {
  return { audience: [], refIds: [], pullRefIds, passerIds: [] };
}

/** Entries below the floor, from the actions. */
export async function entriesBelow(
  context: Context,
  reader: ReaderProfile,
  floor: FeedPosition,
  query: FeedQuery,
): Promise<readonly FeedEntry[]> {
  const keep = keeping(context);
  const all = await followsWithSpans(context, reader.userId);
  const read = (from: FeedQuery): Promise<readonly FeedEntry[]> =>
    readFromSource(
      context,
      { reader, keys: sourceKeys({ reader, follows: all }), followsOf: () => Promise.resolve(all), keep },
      from,
    );
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

function keeping({ actionCache }: Context) {
  return (actions: readonly Action[]): void => {
    actionCache.keep(actions);
  };
}

/** Entries that are in the feed although they are not stored: below the floor, or pulled. */
export async function findUnstored(
  context: Context,
  reader: ReaderProfile,
  floor: FeedPosition | null,
  ids: readonly ActionId[],
): Promise<readonly FeedEntry[]> {
  if (floor === null && reader.pulledFollows.length === 0) return [];
  const actions = await context.actions.findByIds(ids);
  // Also read if no such action exists, so that the time taken does not reveal it.
  const refIds = [...new Set(actions.flatMap(followableIds))];
  const own = await context.follows.find(reader.userId, orNone(refIds));
  const entries = await entriesOf(context, { reader, follows: own }, actions);
  return entries.filter(
    (entry) => (floor !== null && !isAbove(entry, floor)) || entry.reasons.includes('PULL'),
  );
}
