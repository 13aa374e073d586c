import type { Core } from '../core.ts';
import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { ListedState } from './filters.ts';

/** Upper bound on archived items of one reader: the list is always read in full. Concurrent calls may exceed it by one. */
export const MAX_ARCHIVED = 10_000;

const BATCH = 500;

/**
 * All of a reader's entries in a state, in feed order. Starts from the reader's marks instead of scanning the feed: one
 * round trip, plus one per 500 entries.
 */
export async function entriesInState(
  { feedReader, itemMarks, snoozes }: Core,
  reader: ReaderProfile,
  state: ListedState,
): Promise<readonly FeedEntry[]> {
  const { userId, asOf } = reader;
  const marked =
    state === 'SNOOZED'
      ? await snoozes.active(userId, asOf)
      : (await itemMarks.list(userId, state, null, MAX_ARCHIVED)).map(({ actionId }) => actionId);
  const entries: FeedEntry[] = [];
  for (let from = 0; from < marked.length; from += BATCH) {
    entries.push(...(await feedReader.find(reader, marked.slice(from, from + BATCH))));
  }
  return entries.sort(compareFeedPositions);
}

/** The next of these entries, which are in feed order, after a position. */
export function entriesAfter(
  entries: readonly FeedEntry[],
  after: FeedPosition | null,
  limit: number,
): readonly FeedEntry[] {
  const from = after === null ? 0 : entries.findIndex((entry) => compareFeedPositions(after, entry) < 0);
  return from === -1 ? [] : entries.slice(from, from + limit);
}
