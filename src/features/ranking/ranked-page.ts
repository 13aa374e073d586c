import type { ListOrder, Page } from '../../core/shapes.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import { decodeRanked, encodeRanked, LAST_TIME, type RankedCursor } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import {
  compareRanked,
  generationAt,
  GENERATIONS_KEPT,
  RESCORE_EVERY_MS,
  type RankedPosition,
} from '../../domain/ranking.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { FeedReads } from '../../feed/feed-reader.ts';
import type { OrderedPage } from '../../feed/page/declared.ts';
import { collectRecent, listInOrder } from '../../feed/page/orders.ts';
import { askedPage, pageOf } from '../../feed/page/paging.ts';
import type { ConductedPosition } from '../../feed/source.ts';
import { clock } from '../../lib/clock.ts';
import { once } from '../../lib/once.ts';
import { eachInTurns } from '../../lib/turn.ts';
import type { RankedFacts, Relation, Taste } from './store.ts';

/** How the newest entries of a feed are ranked. */
export interface Ranking {
  /** Tells its cursors from those of other orders. */
  readonly name: ListOrder;
  /** Earliest `conducted` that a generation ranks, inclusive; `ALWAYS`: however old. Of more entries the newest `RANKED_CHUNK` are ranked. */
  readonly earliest: (generation: Date) => Date;
  /** Whether it needs the descriptors of actions. */
  readonly withContent: boolean;
  /** Whether it needs what the reader was shown. */
  readonly withShown: boolean;
  /** The score of an entry, highest first. */
  readonly scoring: (core: FeedReads, of: RankedOf) => (entry: FeedEntry, facts: RankedFacts) => number;
}

/** What a ranking is of. */
export interface RankedOf {
  readonly userId: UserId;
  readonly generation: Date;
  readonly relations: ReadonlyMap<UserId, Relation>;
  /** How often the reader was shown actions before the generation. */
  readonly shown: ReadonlyMap<ActionId, number>;
}

/** Entries that a ranking reads at once, and about as many as it ranks. */
const RANKED_CHUNK = 1_000;
/** A page after the first reads at most so many chunks: new entries may have come above. */
const MOST_CHUNKS = 4;
/** The lowest time that a cursor can hold. */
export const ALWAYS = new Date(-LAST_TIME);

interface RankedEntry extends RankedPosition {
  readonly entry: FeedEntry;
}

/**
 * A page of a feed with the best items first: the newest actions, up to about 1,000, by score; then everything older, newest first. Scores, the age up to which
 * actions are ranked and the reader's interactions are fixed by the generation and the cursor, so the order is stable while a reader
 * pages.
 *
 * Costs two round trips for the entries that are ranked, two for the reader's interactions and two for the page.
 * @throws FanfareError BAD_CURSOR, also when the cursor's generation is no longer stored.
 */
export async function readRanked(
  core: FeedReads,
  options: OrderedPage,
  ranking: Ranking,
): Promise<Page<NewsfeedItem>> {
  const list = listInOrder(ranking.name, options.list);
  const latest = await latestGeneration(core);
  const page = askedPage(options.args, (cursor) => decodeRanked(list, cursor));
  const { size, isUp, from } = page;
  if (from !== null && !isKept(from.generation, latest)) throw outdated();
  const generation = from?.generation ?? latest;
  const known = from?.since ?? null;
  const ranked = once(() => rank(core, options, { ranking, generation, known }));
  const sinceOf = async (): Promise<Date> => known ?? (await ranked()).since;
  const zones: Readonly<Record<RankedCursor['zone'], (room: number) => Promise<readonly RankedEdge[]>>> = {
    async ranked(room) {
      const { entries, since } = await ranked();
      const next = from?.zone === 'ranked' ? entries.filter((entry) => isNext(entry, from, isUp)) : entries;
      return rankedEdges(isUp ? next.toReversed() : next, { ...options, size: room, generation, since });
    },
    async older(room) {
      const since = await sinceOf();
      if (since.getTime() === ALWAYS.getTime()) return [];
      const begin = { time: since, actionId: '' };
      const place = from?.zone === 'older' ? { time: new Date(from.value), actionId: from.actionId } : null;
      const next = { size: room, isUp, from: isUp ? place : (place ?? begin) };
      const recent = await collectRecent(options, next, begin);
      stop = recent.stop;
      return recent.nodes.map((node) => {
        const value = node.action.conducted.getTime();
        return { node, position: { generation, since, zone: 'older', value, actionId: node.actionId } };
      });
    },
  };
  let stop: ConductedPosition | null = null;
  return options.first(page, String(generation.getTime()), RANKED_CHUNK, async () => {
    const edges: RankedEdge[] = [];
    const inOrder = isUp ? (['older', 'ranked'] as const) : (['ranked', 'older'] as const);
    for (const zone of inOrder.slice(from === null ? 0 : inOrder.indexOf(from.zone)))
      if (edges.length <= size) edges.push(...(await zones[zone](size - edges.length)));
    const shown = edges.slice(0, size).map(({ node, position }) => ({
      node,
      cursor: encodeRanked(list, position),
    }));
    const hasMore = edges.length > size;
    const found = pageOf(shown, { isUp, hasMore: hasMore || stop !== null });
    if (hasMore || stop === null) return found;
    const { time, actionId } = stop;
    const end = { generation, since: await sinceOf(), value: time.getTime(), actionId };
    return { ...found, end: encodeRanked(list, { ...end, zone: 'older' }) };
  });
}

interface RankedEdge {
  readonly node: NewsfeedItem;
  readonly position: RankedCursor;
}

/** Another process may already know a newer generation, and the oldest slot may be overwritten at any moment. */
function isKept(generation: Date, latest: Date): boolean {
  const age = (latest.getTime() - generation.getTime()) / RESCORE_EVERY_MS;
  return Number.isInteger(age) && age >= -1 && age < GENERATIONS_KEPT - 1;
}

interface Ranked {
  /** Before the rules, best first. */
  readonly entries: readonly RankedEntry[];
  /** Earliest `conducted` among all that are ranked. */
  readonly since: Date;
}

interface RankAsked {
  readonly ranking: Ranking;
  readonly generation: Date;
  /** Earliest `conducted`; `null`: it is to be found. */
  readonly known: Date | null;
}

async function rank(
  core: FeedReads,
  { userId, scan, lookUp }: OrderedPage,
  { ranking, generation, known }: RankAsked,
): Promise<Ranked> {
  const facts = new Map<ActionId, RankedFacts>();
  const learn = async (entries: readonly FeedEntry[]): Promise<void> => {
    for (const one of await factsOf(core, entries, { generation, withContent: ranking.withContent }))
      facts.set(...one);
  };
  const [{ entries, since }, relations, shown, taste] = await Promise.all([
    known === null ? newest(scan, learn, ranking.earliest(generation)) : entriesSince(scan, known, learn),
    relationsOf(core, userId, generation),
    ranking.withShown ? shownTo(core, userId, generation) : NOTHING_SHOWN,
    tasteOf(core, await lookUp()),
  ]);
  const score = ranking.scoring(core, { userId, generation, relations, shown });
  const ranked: RankedEntry[] = [];
  await eachInTurns(entries, (entry) => {
    const action = facts.get(entry.actionId);
    if (action === undefined || action.conducted.getTime() < since.getTime()) return;
    ranked.push({ entry, actionId: entry.actionId, score: lessened(score(entry, action), taste, action) });
  });
  return { entries: ranked.sort(compareRanked), since };
}

/** Reads only what the process does not know of actions at these revisions. */
export async function factsOf(
  { rankedActions, rankingCache, scores }: FeedReads,
  entries: readonly FeedEntry[],
  { generation, withContent }: { readonly generation: Date; readonly withContent: boolean },
): Promise<ReadonlyMap<ActionId, RankedFacts>> {
  const facts = new Map<ActionId, RankedFacts>();
  const revs = new Map<ActionId, number | undefined>();
  for (const { actionId, rev } of entries) {
    const known = rev === undefined ? null : rankingCache.facts.find(actionId, rev);
    if (known?.generation !== generation.getTime() || (withContent && known.descriptor === null))
      revs.set(actionId, rev);
    else facts.set(actionId, known);
  }
  if (revs.size === 0) return facts;
  const ids = [...revs.keys()];
  const [actions, scored] = await Promise.all([
    rankedActions.find(ids, withContent),
    scores.find(ids, generation),
  ]);
  for (const { id, actorId, conducted, type, rev, counts, descriptor } of actions) {
    const slot = scored.get(id);
    // As this process first saw them in the generation, whatever the revision.
    const first = rankingCache.facts.find(id, null);
    const found = {
      ...{ id, actorId, conducted, type, descriptor, score: slot?.score, generation: generation.getTime() },
      counts: (first?.generation === generation.getTime() ? first.counts : slot?.counts) ?? counts,
    };
    facts.set(id, found);
    rankingCache.facts.keep(id, rev, found);
  }
  return facts;
}

/** Reads what ranks these entries. */
type Learn = (entries: readonly FeedEntry[]) => Promise<void>;

interface Candidates {
  readonly entries: readonly FeedEntry[];
  /** The earliest `conducted` of which none is missing. */
  readonly since: Date;
}

async function newest(scan: OrderedPage['scan'], learn: Learn, earliest: Date): Promise<Candidates> {
  const entries = await scan({ from: null, limit: RANKED_CHUNK, isUp: false });
  await learn(entries);
  // An action that was not read has a lower relevancy, which is at most so much below `conducted`: of a burst none may be above that.
  const floor = (entries.at(-1)?.relevancy.getTime() ?? 0) + MAX_FUTURE_MS + 1;
  const isWhole = entries.length < RANKED_CHUNK || floor <= earliest.getTime();
  return { entries, since: isWhole ? earliest : new Date(floor) };
}

/**
 * A relevancy is at most MAX_FUTURE_MS below `conducted`, so these contain all conducted since then.
 * @throws FanfareError BAD_CURSOR if they are many more than a first page ranks: the time is that of a cursor
 */
async function entriesSince(scan: OrderedPage['scan'], since: Date, learn: Learn): Promise<Candidates> {
  const lowest = since.getTime() - MAX_FUTURE_MS;
  const found: FeedEntry[] = [];
  let after: FeedPosition | null = null;
  for (let chunks = 0; chunks < MOST_CHUNKS; chunks += 1) {
    const entries: readonly FeedEntry[] = await scan({ from: after, limit: RANKED_CHUNK, isUp: false });
    const last = entries.at(-1);
    const chunk = entries.filter((entry) => entry.relevancy.getTime() >= lowest);
    found.push(...chunk);
    await learn(chunk);
    const isOver = entries.length < RANKED_CHUNK || last === undefined || last.relevancy.getTime() < lowest;
    if (isOver) return { entries: found, since };
    after = last;
  }
  throw outdated();
}

/** The first entries of a ranking that pass the rules, and one more than `size` if there is one. */
async function rankedEdges(
  ranked: readonly RankedEntry[],
  {
    size,
    select,
    ...of
  }: Pick<OrderedPage, 'select'> & {
    readonly size: number;
    readonly generation: Date;
    readonly since: Date;
  },
): Promise<readonly RankedEdge[]> {
  const scores = new Map(ranked.map(({ actionId, score }) => [actionId, score]));
  const edges: RankedEdge[] = [];
  let limit = size + 1;
  for (let taken = 0; edges.length <= size && taken < ranked.length; taken += limit, limit *= 2) {
    const nodes = await select(ranked.slice(taken, taken + limit).map(({ entry }) => entry));
    for (const node of nodes) {
      const { actionId } = node;
      const value = scores.get(actionId) ?? 0;
      edges.push({
        node,
        position: { generation: of.generation, since: of.since, zone: 'ranked', value, actionId },
      });
    }
  }
  return edges.slice(0, size + 1);
}

function isNext(entry: RankedPosition, { value, actionId }: RankedCursor, isUp: boolean): boolean {
  return compareRanked(entry, { score: value, actionId }) * (isUp ? -1 : 1) > 0;
}

function outdated(): FanfareError {
  return new FanfareError(
    'BAD_CURSOR',
    'The ranking of this cursor has expired: start again from the first page',
  );
}

/** Number of the reader's newest interactions that determine their relationships. */
const INTERACTIONS = 200;

/** Before the first generation has scores: the previous one, which never gets any, so that paging stays stable. */
export async function latestGeneration({ scores }: FeedReads): Promise<Date> {
  return (await scores.current()) ?? new Date(generationAt(clock.now()).getTime() - RESCORE_EVERY_MS);
}

/** The reader's interactions with other members' actions before the generation, by their actors. */
export async function relationsOf(
  { interactions, rankedActions, rankingCache }: FeedReads,
  userId: UserId,
  generation: Date,
): Promise<ReadonlyMap<UserId, Relation>> {
  const known = rankingCache.relations.find(userId, generation.getTime());
  if (known !== null) return known;
  const newest = await interactions.newestBy(userId, generation, INTERACTIONS);
  const relations = new Map<UserId, Relation>();
  const ids = [...new Set(newest.map(({ actionId }) => actionId))];
  const found = ids.length === 0 ? [] : await rankedActions.find(ids, false);
  const actors = new Map(found.map(({ id, actorId }) => [id, actorId]));
  for (const { actionId, at } of newest) {
    const actorId = actors.get(actionId);
    if (actorId === undefined || actorId === userId) continue;
    const { interactions: all, recent } = relations.get(actorId) ?? { interactions: 0, recent: 0 };
    const isRecent = at.getTime() >= generation.getTime() - RECENT_MS;
    relations.set(actorId, { interactions: all + 1, recent: recent + (isRecent ? 1 : 0) });
  }
  rankingCache.relations.keep(userId, generation.getTime(), relations);
  return relations;
}

const RECENT_MS = 30 * 24 * 3_600_000;

const NOTHING_SHOWN: ReadonlyMap<ActionId, number> = new Map();

/** How often the reader was shown actions before the generation, of the last thousand. One round trip if the server keeps it. */
export function shownTo(
  { keepsImpressions, impressions }: FeedReads,
  userId: UserId,
  generation: Date,
): Promise<ReadonlyMap<ActionId, number>> {
  return keepsImpressions
    ? impressions.before(userId, generation, RANKED_CHUNK)
    : Promise.resolve(NOTHING_SHOWN);
}

/** What the reader wants less of, by actors and types. No round trip for readers who have not said so, or if the process knows. */
export async function tasteOf(
  { rankedActions, rankingCache }: FeedReads,
  { userId, showsLess, asOf }: ReaderProfile,
): Promise<Taste> {
  const ids = showsLess.flatMap(({ actionId, until }) => (until.getTime() > asOf.getTime() ? actionId : []));
  if (ids.length === 0) return NO_TASTE;
  const of = ids.join();
  const known = rankingCache.tastes.find(userId, of);
  if (known !== null) return known;
  const found = await rankedActions.find(ids, false);
  const taste = {
    actors: new Set(found.map(({ actorId }) => actorId)),
    types: new Set(found.map(({ type }) => type)),
  };
  rankingCache.tastes.keep(userId, of, taste);
  return taste;
}

const NO_TASTE: Taste = { actors: new Set(), types: new Set() };

/** The share of a score that is left for what the reader wants less of: each of actor and type halves it. */
function shareOf(
  { actors, types }: Taste,
  { actorId, type }: { readonly actorId: UserId; readonly type: string },
): number {
  return (actors.has(actorId) ? 0.5 : 1) * (types.has(type) ? 0.5 : 1);
}

/** A lower place, also for scores below 0. */
export function lessened(score: number, taste: Taste, action: Parameters<typeof shareOf>[1]): number {
  const share = shareOf(taste, action);
  return score < 0 ? Math.max(-Number.MAX_VALUE, score / share) : score * share;
}

/** For explanations: the share, if the reader wants less of it. */
export function lessIn(taste: Taste, action: Parameters<typeof shareOf>[1]): { readonly showsLess?: number } {
  const share = shareOf(taste, action);
  return share === 1 ? {} : { showsLess: share };
}
