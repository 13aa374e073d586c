import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { ListedState } from './filters.ts';
import type { ReadingDependencies } from '../service-parts.ts';

/** Most items of one reader that are archived: their list is read as a whole. Two at once may exceed it by one. */
export const MAX_ARCHIVED = 10_000;

const BATCH = 500;

/**
 * All of a reader's entries in a state, in feed order. Read from what the reader said, never by looking through the feed: one
 * round trip, and one for each 500 of them.
 */
export async function entriesInState(
  { feedReader, itemMarks, snoozes }: ReadingDependencies,
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

/** The next of these entries, which are in feed order, behind a position. */
export function entriesAfter(
  entries: readonly FeedEntry[],
  after: FeedPosition | null,
  limit: number,
): readonly FeedEntry[] {
  const from = after === null ? 0 : entries.findIndex((entry) => compareFeedPositions(after, entry) < 0);
  return from === -1 ? [] : entries.slice(from, from + limit);
}
