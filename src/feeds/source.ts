import type { Context } from './context.ts';
import type { FeedEntry } from '../domain/newsfeed-item.ts';
import { compareFeedPositions } from '../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS } from '../domain/relevancy.ts';
import type { SourceKeys, SourceWindow } from '../storage/actions/source-actions.ts';
import type { FeedQuery } from './feed-store.ts';
import { entriesOf } from './membership.ts';
import type { Action } from '../domain/action.ts';
import type { Follow, ReaderProfile } from '../domain/viewer.ts';
import { clock } from '../lib/clock.ts';
import { MAX_CANDIDATES, StretchGuess } from './stretch-guess.ts';

/** Actions of a window, with the reader's follows that decide which of them belong in the feed. */
export interface ReadWindow {
  readonly actions: readonly Action[];
  readonly follows: readonly Follow[];
}

/** The reader of the feed, and how actions reach it. */
export interface SourceReader {
  readonly reader: ReaderProfile;
  readonly keys: SourceKeys;
  /** At least the reader's follows of the `followableIds` of these actions. */
  readonly followsOf: (actions: readonly Action[]) => Promise<readonly Follow[]>;
  /** Reads the whole window at once. `null`: it has more than `most` actions. */
  readonly tryFullRead?: (window: SourceWindow, most: number) => Promise<ReadWindow | null>;
  /** Length of the first window, shared by whole feeds that are read one after another. */
  readonly guess?: StretchGuess;
  /** Receives the actions of the returned entries. */
  readonly keep?: (actions: readonly Action[]) => void;
}

/** Each window is longer than the previous one by this factor. */
const WINDOW_GROWTH = 8;
/** A window longer than this reaches to the oldest action. */
const LAST_WINDOW_MS = 10 * 365 * 86_400_000;
/** Limit of the speculative full read. If there are more actions, the result is discarded. */
const FULL_READ_LIMIT = 50;

/**
 * Part of a feed, computed from the actions by the definition: at most `limit` entries in feed order; fewer means the end.
 *
 * Reads actions by `latest`, which is at or above every reader's relevancy, in windows that go down and grow until the page
 * is full. An entry is final once all unread actions are below it. Actions that were bumped past the start of the page may
 * still belong below it, so they are read first.
 *
 * Costs at most nine windows of one to three round trips, and one more if the speculative full read is discarded. Reads the
 * actions of the windows, a few thousand at most. For a page that does not start at the top, it also reads all actions that
 * were conducted before its start and bumped after it.
 */
export async function readFromSource(
  context: Context,
  { reader, keys, followsOf, tryFullRead, guess = new StretchGuess(), keep }: SourceReader,
  query: FeedQuery,
): Promise<FeedEntry[]> {
  const { audience, refIds, pullRefIds, passerIds } = keys;
  if (audience.length + refIds.length + pullRefIds.length + passerIds.length === 0) return [];
  const { after, since, until, limit } = query;
  const top = earliest(after?.relevancy, until);
  const found = new Map<string, Found>();
  let candidates = 0;
  const take = async ({ actions, follows }: ReadWindow): Promise<void> => {
    const read = new Map(actions.map((action) => [action.id, action]));
    for (const entry of await entriesOf(context, { reader, follows }, actions)) {
      const action = read.get(entry.actionId);
      if (action !== undefined) found.set(entry.actionId, { entry, action });
    }
  };
  const look = async (window: SourceWindow, most: number | null): Promise<boolean> => {
    const actions = await context.sourceActions.candidates(keys, window, most);
    if (most !== null && actions.length > most) return false;
    candidates += actions.length;
    await take({ actions, follows: await followsOf(actions) });
    return true;
  };
  /** The requested entries above this time, which are final. */
  const certainAbove = (above: Date | null): Found[] =>
    [...found.values()].filter(
      ({ entry }) =>
        (above === null || entry.relevancy.getTime() > above.getTime()) &&
        (after === undefined || compareFeedPositions(entry, after) > 0) &&
        (since === undefined || entry.relevancy.getTime() >= since.getTime()) &&
        (until === undefined || entry.relevancy.getTime() < until.getTime()),
    );
  const give = (certain: readonly Found[]): FeedEntry[] => {
    const given = certain.toSorted((a, b) => compareFeedPositions(a.entry, b.entry)).slice(0, limit);
    keep?.(given.map(({ action }) => action));
    return given.map(({ entry }) => entry);
  };
  // `conducted` may be ahead of a relevancy by this much.
  let upTo = top === null ? null : new Date(top.getTime() + MAX_FUTURE_MS);
  if (top !== null && upTo !== null)
    await look({ above: upTo, upTo: null, bumpedAndConductedBy: upTo }, null);
  if (tryFullRead !== undefined) {
    const above = since === undefined ? null : new Date(since.getTime() - 1);
    const little = await tryFullRead({ above, upTo }, FULL_READ_LIMIT);
    if (little !== null) {
      await take(little);
      return give(certainAbove(above));
    }
  }
  let length = guess.ms;
  let looked = 0;
  for (;;) {
    const from = upTo?.getTime() ?? clock.time() + MAX_FUTURE_MS;
    const above = length > LAST_WINDOW_MS ? null : new Date(from - length);
    if (!(await look({ above, upTo }, length <= 1 ? null : MAX_CANDIDATES))) {
      length = Math.max(1, Math.floor(Math.min(length, LAST_WINDOW_MS) / WINDOW_GROWTH));
      guess.wasTooLong(length);
      continue;
    }
    const certain = certainAbove(above);
    const isAtEnd = above === null || (since !== undefined && above.getTime() < since.getTime());
    looked += length;
    if (isAtEnd || certain.length >= limit) {
      guess.wasNeeded(looked, candidates);
      return give(certain);
    }
    upTo = above;
    length *= WINDOW_GROWTH;
  }
}

interface Found {
  readonly entry: FeedEntry;
  readonly action: Action;
}

function earliest(a: Date | undefined, b: Date | undefined): Date | null {
  if (a === undefined || b === undefined) return a ?? b ?? null;
  return a.getTime() < b.getTime() ? a : b;
}
