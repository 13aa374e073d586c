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

/** Actions with the follows that decide over them. */
export interface Looked {
  readonly actions: readonly Action[];
  readonly follows: readonly Follow[];
}

/** Whose feed it is, and by what actions come into it. */
export interface SourceReader {
  readonly reader: ReaderProfile;
  readonly keys: SourceKeys;
  /** The reader's follows of `followableIds` of these actions; further ones do no harm. */
  readonly followsOf: (actions: readonly Action[]) => Promise<readonly Follow[]>;
  /** Everything of a stretch that may hold little; null: it holds more than so many. */
  readonly lookAtLittle?: (window: SourceWindow, most: number) => Promise<Looked | null>;
  /** Where many feeds are read one after another, whole: what the last one has shown about the first stretch. */
  readonly guess?: StretchGuess;
  /** Takes the actions of what is given. */
  readonly keep?: (actions: readonly Action[]) => void;
}

/** How much longer each next stretch of time is. */
const WINDOW_GROWTH = 8;
/** A stretch longer than this is the rest of time. */
const LAST_WINDOW_MS = 10 * 365 * 86_400_000;
/** Of one look at everything, where there may be little: where there is more, as many are brought in vain. */
const LITTLE = 50;

/**
 * A piece of a feed made from the actions themselves: what the definition says, in feed order, at most `limit`; fewer
 * means that there are no more.
 *
 * Actions are looked at by `latest`, above which no reader's relevancy lies, in stretches downwards that grow until the
 * page is full: an entry is certain once everything that has not been looked at is below it. Only what was bumped
 * past the beginning of the page may have its place below it nevertheless; that is looked at first.
 *
 * Costs at most nine stretches of 1 to 3 round trips, and one more where little was expected and there is more. Reads the
 * actions of the stretches, at most some thousand, and for a page that does not begin at the top all that were conducted
 * before its beginning and bumped after it.
 */
export async function readFromSource(
  context: Context,
  { reader, keys, followsOf, lookAtLittle, guess = new StretchGuess(), keep }: SourceReader,
  query: FeedQuery,
): Promise<FeedEntry[]> {
  const { audience, refIds, pullRefIds, passerIds } = keys;
  if (audience.length + refIds.length + pullRefIds.length + passerIds.length === 0) return [];
  const { after, since, until, limit } = query;
  const top = earliest(after?.relevancy, until);
  const found = new Map<string, Found>();
  let candidates = 0;
  const take = async ({ actions, follows }: Looked): Promise<void> => {
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
  /** What is wanted of all that was looked at down to there. */
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
  // The little that `conducted` may be ahead of a relevancy.
  let upTo = top === null ? null : new Date(top.getTime() + MAX_FUTURE_MS);
  if (top !== null && upTo !== null)
    await look({ above: upTo, upTo: null, bumpedAndConductedBy: upTo }, null);
  if (lookAtLittle !== undefined) {
    const above = since === undefined ? null : new Date(since.getTime() - 1);
    const little = await lookAtLittle({ above, upTo }, LITTLE);
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
