import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { FeedReader } from '../../feeds/feed-reader.ts';
import { Turn } from '../../lib/turn.ts';
import type { ActionsRepository } from '../../storage/actions.ts';
import type { ItemMarksRepository } from '../../storage/item-marks.ts';
import type { SnoozesRepository } from '../../storage/snoozes.ts';
import { beginReading, type BeginReadingDependencies } from '../session/begin-reading.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { FeedOrder } from '../shapes.ts';
import { hydrateEntries, isAboveRead, presentEntry } from './feed-rules.ts';
import {
  actionConditions,
  listedState,
  passesFeedFilter,
  type CheckedFeedFilter,
  type ListedState,
} from './filters.ts';
import { entriesAfter, entriesInState } from './state-entries.ts';
import { unreadEntries, type UnreadEntries } from './unread-entries.ts';

export interface FeedListDependencies extends BeginReadingDependencies {
  readonly feedReader: FeedReader;
  readonly itemMarks: Pick<ItemMarksRepository, 'unread' | 'list'>;
  readonly snoozes: Pick<SnoozesRepository, 'active'>;
  readonly actions: Pick<ActionsRepository, 'matching'>;
}

/** A reader's feed, or a list of what they put into a state, as far as a filter lets it through. */
export interface FeedList {
  /** Who reads; looked up once, together with the first entries. */
  readonly lookUp: () => Promise<ReaderProfile>;
  /** The next entries after a position, in feed order; fewer than `limit` means there are no more. */
  readonly scan: (after: FeedPosition | null, limit: number) => Promise<readonly FeedEntry[]>;
  /** Those that may be shown and pass the filter, in the same order. */
  readonly select: (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
  /** Whether an entry stands above everything the reader has read. */
  readonly isAboveRead: (entry: FeedEntry) => Promise<boolean>;
  /** Entries of the list that do not, and are marked as unread. */
  readonly unreadBelow: () => Promise<readonly FeedEntry[]>;
}

export function openFeedList(
  dependencies: FeedListDependencies,
  session: ReaderSession,
  { filter, order }: { readonly filter: CheckedFeedFilter; readonly order: FeedOrder },
): FeedList {
  const range = rangeOf(filter, order);
  const { userId } = session.identity;
  const { feedReader } = dependencies;
  let looking: Promise<ReaderProfile> | undefined;
  const lookUp = (): Promise<ReaderProfile> => (looking ??= beginReading(dependencies, session));
  let reading: Promise<UnreadEntries> | undefined;
  const unread = (): Promise<UnreadEntries> =>
    (reading ??= lookUp().then((reader) => unreadEntries(dependencies, reader)));
  const state = listedState(filter);
  let listing: Promise<readonly FeedEntry[]> | undefined;
  const inState = (wanted: ListedState): Promise<readonly FeedEntry[]> =>
    (listing ??= lookUp().then((reader) => entriesInState(dependencies, reader, wanted)));
  return {
    lookUp,
    async scan(from, limit) {
      if (state !== null) return entriesAfter(await inState(state), from, limit);
      const query = {
        limit,
        ...(from === null ? {} : { after: from }),
        ...(range.since === null ? {} : { since: range.since }),
        ...(range.until === null ? {} : { until: range.until }),
      };
      if (filter.unreadOnly) return (await unread()).page(query);
      if (looking !== undefined) return feedReader.page(await looking, query);
      const ahead = feedReader.readAhead(userId, query);
      looking = ahead.known.then((known) => {
        if (known !== null) session.know(known);
        return beginReading(dependencies, session);
      });
      return feedReader.page(await looking, query, ahead);
    },
    select: async (candidates) =>
      present(session, await narrowed(dependencies, filter, candidates), filter, order),
    isAboveRead: async (entry) => isAboveRead(await lookUp(), entry),
    unreadBelow: async () => (await unread()).below(state === null ? null : await inState(state)),
  };
}

/**
 * The range of relevancies that holds what a filter lets through. In the order of time it is by when things were conducted,
 * which a relevancy is not below but by the little that may be ahead; bumps go up without a bound.
 */
function rangeOf(
  { since, until }: CheckedFeedFilter,
  order: FeedOrder,
): { readonly since: Date | null; readonly until: Date | null } {
  if (order !== 'RECENT') return { since, until };
  return { since: since === null ? null : new Date(since.getTime() - MAX_FUTURE_MS), until: null };
}

/**
 * The entries whose actions a filter on them lets through, by one round trip that brings none of the others: however
 * selective the filter, only what is shown is loaded whole.
 */
async function narrowed(
  { actions }: Pick<FeedListDependencies, 'actions'>,
  filter: CheckedFeedFilter,
  entries: readonly FeedEntry[],
): Promise<readonly FeedEntry[]> {
  const conditions = actionConditions(filter);
  if (entries.length === 0 || Object.keys(conditions).length === 0) return entries;
  const matching = await actions.matching(
    entries.map((entry) => entry.actionId),
    conditions,
  );
  return entries.filter((entry) => matching.has(entry.actionId));
}

/** Those of the entries that the reader may be shown and that pass the filter, as they are shown. */
export async function present(
  session: ReaderSession,
  entries: readonly FeedEntry[],
  filter: CheckedFeedFilter,
  order: FeedOrder = 'RELEVANCY',
): Promise<NewsfeedItem[]> {
  const profile = await session.profile();
  const items: NewsfeedItem[] = [];
  const turn = new Turn();
  for (const facts of await hydrateEntries(session, entries)) {
    // To look for muted phrases in long texts takes its time.
    if (turn.isOver()) await turn.next();
    const item = presentEntry(profile, facts, listedState(filter));
    if (item !== null && passesFeedFilter(filter, item, order)) items.push(item);
  }
  return items;
}
