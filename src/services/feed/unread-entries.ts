import type { Core } from '../core.ts';
import { compareFeedPositions, type FeedEntry } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { isInRange } from '../../feeds/feed-range.ts';
import type { FeedQuery } from '../../feeds/feed-store.ts';

/** Reads entries that may be unread: those above the read mark and, below it, those marked unread. */
export interface UnreadEntries {
  /** In feed order. Fewer than the limit means the end. */
  page(query: FeedQuery): Promise<readonly FeedEntry[]>;
  /** In feed order. `list` null: of the feed. No query when there are none. */
  below(list: readonly FeedEntry[] | null): Promise<readonly FeedEntry[]>;
}

export function unreadEntries({ feedReader, itemMarks }: Core, reader: ReaderProfile): UnreadEntries {
  const { lastRead, userId, hasUnreadMarks } = reader;
  let marked: Promise<readonly FeedEntry[]> | undefined;
  async function findBelow(list: readonly FeedEntry[] | null): Promise<readonly FeedEntry[]> {
    if (lastRead === null || !hasUnreadMarks) return [];
    const ids = await itemMarks.unread(userId);
    const known = new Set(ids);
    const entries =
      list === null ? await feedReader.find(reader, ids) : list.filter(({ actionId }) => known.has(actionId));
    return entries
      .filter(({ relevancy }) => relevancy.getTime() <= lastRead.getTime())
      .sort(compareFeedPositions);
  }
  const below: UnreadEntries['below'] = (list) => (marked ??= findBelow(list));
  return {
    below,
    async page(query) {
      const since = newest(query.since ?? null, justAfter(lastRead));
      const above = await feedReader.page(reader, { ...query, ...(since === null ? {} : { since }) });
      if (above.length === query.limit) return above;
      const rest = (await below(null)).filter((entry) => isInRange(entry, query));
      return [...above, ...rest].slice(0, query.limit);
    },
  };
}

function newest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a.getTime() > b.getTime() ? a : b;
}

/** Relevancies are whole milliseconds, so everything after the mark starts one millisecond later. */
function justAfter(mark: Date | null): Date | null {
  return mark === null ? null : new Date(mark.getTime() + 1);
}
