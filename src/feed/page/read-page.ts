import type { Core } from '../../features/core.ts';
import {
  decodePosition,
  encodePosition,
  decodeRanked,
  encodeRanked,
  type RankedCursor,
} from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { UserId } from '../../domain/action.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { once } from '../../lib/once.ts';
import { Turn } from '../../lib/turn.ts';
import { beginPage, beginReading, type BegunPage } from '../session/begin-reading.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { FeedFilter, FeedOrder, FeedPage, Page, PageArgs } from '../../features/shapes.ts';
import { isAboveRead, passRules, toItem } from './feed-rules.ts';
import { FeedScan, type ScanStages, entriesAfter, entriesInState, unreadEntries } from './list-scan.ts';
import {
  actionConditions,
  checkFeedFilter,
  listedState,
  passesFeedFilter,
  type CheckedFeedFilter,
} from './filters.ts';
import { hydrateEntries } from './hydration.ts';
import { type OrderedPage, collectPage, pageSize } from './paging.ts';
import {
  readRecent,
  collectRecent,
  interactionsByActor,
  latestGeneration,
  rankedScore,
} from './read-recent.ts';
import { FanfareError } from '../../domain/errors.ts';
import { compareRanked, rankedSince, RESCORE_EVERY_MS, type RankedPosition } from '../../domain/ranking.ts';
import { GENERATIONS_KEPT } from '../../features/ranking/store.ts';

const CHUNK = 1_000;

interface RankedEntry extends RankedPosition {
  readonly entry: FeedEntry;
}

/**
 * A page of a feed with the best items first: actions of the day before the latest scoring generation, by score; then
 * everything older, newest first. Scores, day and the reader's interactions are fixed by the generation, so the order is
 * stable while a reader pages.
 *
 * Costs two round trips per 1,000 entries of the day, two for the reader's interactions and two for the page.
 * @throws FanfareError BAD_CURSOR, also when the cursor's generation is no longer stored.
 */
async function readTop(core: Core, options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const { size, scan, select } = options;
  const list = `feed:TOP:${options.userId}`;
  const latest = await latestGeneration(core);
  const cursor = options.after === null ? null : decodeRanked(list, options.after);
  if (cursor !== null && !isKept(cursor.generation, latest)) throw outdated();
  const generation = cursor?.generation ?? latest;
  const edges: RankedEdge[] = [];
  if (cursor === null || cursor.zone === 'ranked') {
    const ranked = await rank(core, options, generation);
    const page = await pageOfRanked(
      cursor === null ? ranked : ranked.filter((entry) => isBehind(entry, cursor)),
      options,
    );
    edges.push(
      ...page.edges.map(({ node, score }) => ({
        node,
        position: { generation, zone: 'ranked' as const, value: score, actionId: node.actionId },
      })),
    );
    if (page.hasNextPage) return toPage(list, edges, true);
  }
  const room = size - edges.length;
  const older = await collectRecent({
    size: room,
    behind:
      cursor?.zone === 'older'
        ? { time: new Date(cursor.value), actionId: cursor.actionId }
        : { time: rankedSince(generation), actionId: '' },
    scan,
    select,
  });
  edges.push(
    ...older.slice(0, room).map((node) => ({
      node,
      position: {
        generation,
        zone: 'older' as const,
        value: node.action.conducted.getTime(),
        actionId: node.actionId,
      },
    })),
  );
  return toPage(list, edges, older.length > room);
}

interface RankedEdge {
  readonly node: NewsfeedItem;
  readonly position: RankedCursor;
}

function toPage(list: string, edges: readonly RankedEdge[], hasNextPage: boolean): Page<NewsfeedItem> {
  const encoded = edges.map(({ node, position }) => ({ node, cursor: encodeRanked(list, position) }));
  return { edges: encoded, hasNextPage, endCursor: encoded.at(-1)?.cursor ?? null };
}

/** Another process may already know a newer generation, and the oldest slot may be overwritten at any moment. */
function isKept(generation: Date, latest: Date): boolean {
  const age = (latest.getTime() - generation.getTime()) / RESCORE_EVERY_MS;
  return Number.isInteger(age) && age >= -1 && age < GENERATIONS_KEPT - 1;
}

/** Entries of the generation's day before the rules, best first. */
async function rank(core: Core, { userId, scan }: OrderedPage, generation: Date): Promise<RankedEntry[]> {
  const [entries, interactions] = await Promise.all([
    entriesSince(scan, new Date(rankedSince(generation).getTime() - MAX_FUTURE_MS)),
    interactionsByActor(core, userId, generation),
  ]);
  const ranked: RankedEntry[] = [];
  for (let from = 0; from < entries.length; from += CHUNK) {
    const chunk = entries.slice(from, from + CHUNK);
    const ids = chunk.map((entry) => entry.actionId);
    const [actions, scores] = await Promise.all([
      core.rankedActions.find(ids),
      core.scores.find(ids, generation),
    ]);
    const byId = new Map(actions.map((action) => [action.id, action]));
    for (const entry of chunk) {
      const action = byId.get(entry.actionId);
      if (action === undefined) continue;
      const known = { generation, scored: scores.get(action.id), interactions };
      const ranking = rankedScore(action, known, core.ranking);
      if (ranking !== null) ranked.push({ entry, actionId: entry.actionId, score: ranking.score });
    }
  }
  return ranked.sort(compareRanked);
}

/** A relevancy is at most MAX_FUTURE_MS below `conducted`, so these contain the whole day. */
async function entriesSince(scan: OrderedPage['scan'], since: Date): Promise<FeedEntry[]> {
  const found: FeedEntry[] = [];
  let after: FeedPosition | null = null;
  for (;;) {
    const entries = await scan(after, CHUNK);
    const last = entries.at(-1);
    found.push(...entries.filter((entry) => entry.relevancy.getTime() >= since.getTime()));
    if (entries.length < CHUNK || last === undefined) return found;
    if (last.relevancy.getTime() < since.getTime()) return found;
    after = last;
  }
}

/** The first entries of a ranking that pass the rules. */
async function pageOfRanked(
  ranked: readonly RankedEntry[],
  { size, select }: OrderedPage,
): Promise<{
  readonly edges: readonly { readonly node: NewsfeedItem; readonly score: number }[];
  readonly hasNextPage: boolean;
}> {
  const scores = new Map(ranked.map(({ actionId, score }) => [actionId, score]));
  let taken = 0;
  const page = await collectPage<RankedEntry, RankedEntry, NewsfeedItem>({
    size,
    after: null,
    scan: (_after, limit) => {
      const next = ranked.slice(taken, taken + limit);
      taken += next.length;
      return Promise.resolve(next);
    },
    select: (candidates) => select(candidates.map(({ entry }) => entry)),
    cursorOf: () => '',
  });
  return {
    edges: page.edges.map(({ node }) => ({ node, score: scores.get(node.actionId) ?? 0 })),
    hasNextPage: page.hasNextPage,
  };
}

function isBehind(entry: RankedPosition, cursor: RankedCursor): boolean {
  return compareRanked(entry, { score: cursor.value, actionId: cursor.actionId }) > 0;
}

function outdated(): FanfareError {
  return new FanfareError(
    'BAD_CURSOR',
    'The ranking of this cursor has expired: start again from the first page',
  );
}

/** Not a valid log position: a client that resumes from it gets FeedResync. */
const NOWHERE = 'unknown';

/** Taken before a page is read: later changes are in the page or come after the cursor, possibly both. */
async function liveCursorOf({ liveLog, onLiveLogError }: Core, userId: UserId): Promise<string> {
  try {
    return await liveLog.position(userId);
  } catch (error) {
    onLiveLogError(error);
    return NOWHERE;
  }
}

/**
 * A page of the reader's feed, or of their items in one state. Works in four stages, in this order below:
 *
 * 1. **Skeleton**: entries with their positions from the feed store, while the reader's profile is loaded.
 * 2. **Hydration**: the actions in one batch, and facts that only some readers have.
 * 3. **Rules**: which entries the reader may see, decided from the actions' current state.
 * 4. **Presentation**: the items that pass the filter.
 *
 * The stages repeat while the rules leave gaps in the page. Total and unread counts come from the same read. Two round trips
 * without gaps; three for unread items only, or when the feed was rebuilt recently.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readFeed(
  core: Core,
  session: ReaderSession,
  args: PageArgs & {
    readonly filter?: FeedFilter | null | undefined;
    readonly order?: FeedOrder | null | undefined;
    /** The unread count is needed: read it together with the page. */
    readonly withUnread?: boolean | undefined;
    /** The live log position before the read is needed. */
    readonly withLiveCursor?: boolean | undefined;
  },
): Promise<FeedPage> {
  const size = pageSize(args.first);
  const order = args.order ?? 'RELEVANCY';
  const filter = checkFeedFilter(args.filter);
  const { userId } = session.identity;
  const liveCursor = args.withLiveCursor === true ? await liveCursorOf(core, userId) : null;
  const stages = openStages(core, session, { filter, order });
  const scan = new FeedScan({ ...stages, withUnread: args.withUnread ?? false });
  const page = await readInOrder(core, order, {
    userId,
    size,
    after: args.after ?? null,
    scan: (from, limit) => scan.scan(from, limit),
    select: (candidates) => scan.select(candidates),
  });
  const nodes = page.edges.map(({ node }) => node);
  return {
    ...page,
    liveCursor,
    state: (await stages.lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
    countTotal: () => scan.countTotal(nodes),
    countUnread: () => scan.countUnread(nodes),
  };
}

function readInOrder(core: Core, order: FeedOrder, options: OrderedPage): Promise<Page<NewsfeedItem>> {
  if (order === 'TOP') return readTop(core, options);
  return order === 'RECENT' ? readRecent(options) : readRelevant(options);
}

function readRelevant(options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const cursor = options.after === null ? null : decodePosition(listName(options.userId), options.after);
  const asOf = cursor?.asOf ?? clock.now();
  return collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    size: options.size,
    after: cursor === null ? null : { relevancy: cursor.time, actionId: cursor.actionId },
    scan: options.scan,
    select: options.select,
    cursorOf: (item) => relevancyCursor(options.userId, item, asOf),
  });
}

/** Cursor of a position in relevancy order. */
export function relevancyCursor(userId: UserId, { relevancy, actionId }: FeedPosition, asOf: Date): string {
  return encodePosition(listName(userId), { time: relevancy, actionId, asOf });
}

function listName(userId: UserId): string {
  return `feed:${userId}`;
}

/** Stages of one read. They share one profile of the reader. */
export interface PageStages extends ScanStages {
  /** The reader's profile, loaded once, together with the first entries. */
  readonly lookUp: () => Promise<ReaderProfile>;
}

export function openStages(
  core: Core,
  session: ReaderSession,
  { filter, order }: { readonly filter: CheckedFeedFilter; readonly order: FeedOrder },
): PageStages {
  const { feedReader } = core;
  const range = rangeOf(filter, order);
  const state = listedState(filter);
  let begun: Promise<ReaderProfile> | undefined;
  const lookUp = (): Promise<ReaderProfile> => (begun ??= beginReading(core, session));
  const unread = once(async () => unreadEntries(core, await lookUp()));
  const listed = once(async () => (state === null ? null : entriesInState(core, await lookUp(), state)));
  return {
    lookUp,
    async scan(from, limit) {
      const list = state === null ? null : await listed();
      if (list !== null) return entriesAfter(list, from, limit);
      const query = { limit, ...(from === null ? {} : { after: from }), ...range };
      if (filter.unreadOnly) return (await unread()).page(query);
      let first: BegunPage | undefined;
      if (begun === undefined) {
        first = beginPage(core, session, query);
        begun = first.reader;
      }
      return feedReader.page(await begun, query, first?.ahead);
    },
    select: async (entries) =>
      showEntries(session, lookUp, await narrowed(core, filter, entries), { filter, order }),
    isAboveRead: async (entry) => isAboveRead(await lookUp(), entry),
    unreadBelow: async () => (await unread()).below(await listed()),
  };
}

/**
 * Relevancy bounds that contain everything the filter lets through. In the order RECENT, the filter's times refer to
 * `conducted`. A relevancy is at most MAX_FUTURE_MS below `conducted`, and has no upper bound because of bumps.
 */
function rangeOf(
  { since, until }: CheckedFeedFilter,
  order: FeedOrder,
): { readonly since?: Date; readonly until?: Date } {
  if (order === 'RECENT') return since === null ? {} : { since: new Date(since.getTime() - MAX_FUTURE_MS) };
  return { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) };
}

/** One round trip that selects matching entries, so that only those are loaded in full, however selective the filter. */
async function narrowed(
  { actions }: Core,
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

/** Hydration, rules and presentation for entries of the skeleton. */
export async function showEntries(
  session: ReaderSession,
  lookUp: () => Promise<ReaderProfile>,
  entries: readonly FeedEntry[],
  { filter, order }: { readonly filter: CheckedFeedFilter; readonly order: FeedOrder },
): Promise<NewsfeedItem[]> {
  const hydrated = await hydrateEntries(session, lookUp, entries);
  const reader = await lookUp();
  const state = listedState(filter);
  const items: NewsfeedItem[] = [];
  const turn = new Turn();
  for (const facts of hydrated) {
    // Matching muted phrases in long texts takes time.
    if (turn.isOver()) await turn.next();
    const visible = passRules(reader, facts, state);
    if (visible === null) continue;
    const item = toItem(reader, visible, state);
    if (passesFeedFilter(filter, item, order)) items.push(item);
  }
  return items;
}
