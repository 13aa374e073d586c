import type { Page } from '../../core/shapes.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import { decodeRanked, encodeRanked, type RankedCursor } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import {
  compareRanked,
  generationAt,
  GENERATIONS_KEPT,
  initialScore,
  rankedSince,
  relationshipFactor,
  RESCORE_EVERY_MS,
  type RankedPosition,
  type RankingWeights,
} from '../../domain/ranking.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { FeedReads } from '../../feed/feed-reader.ts';
import type { FeedOrderRow, OrderedPage } from '../../feed/page/declared.ts';
import { BY_RELEVANCY, collectRecent } from '../../feed/page/orders.ts';
import { askedPage, pageOf } from '../../feed/page/paging.ts';
import type { ConductedPosition } from '../../feed/source.ts';
import { clock } from '../../lib/clock.ts';
import type { RankedFacts } from './store.ts';

declare module '../../core/shapes.ts' {
  interface FeedOrders {
    readonly TOP: true;
  }
}

/** Entries that the order TOP reads at once. */
const RANKED_CHUNK = 1_000;

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
async function readTop(core: FeedReads, options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const list = `feed:TOP:${options.list}`;
  const latest = await latestGeneration(core);
  const page = askedPage(options.args, (cursor) => decodeRanked(list, cursor));
  const { size, isUp, from } = page;
  if (from !== null && !isKept(from.generation, latest)) throw outdated();
  const generation = from?.generation ?? latest;
  const zones: Readonly<Record<RankedCursor['zone'], (room: number) => Promise<readonly RankedEdge[]>>> = {
    async ranked(room) {
      const ranked = await rank(core, options, generation);
      const next = from?.zone === 'ranked' ? ranked.filter((entry) => isNext(entry, from, isUp)) : ranked;
      return rankedEdges(isUp ? next.reverse() : next, { ...options, size: room, generation });
    },
    async older(room) {
      const since = { time: rankedSince(generation), actionId: '' };
      const place = from?.zone === 'older' ? { time: new Date(from.value), actionId: from.actionId } : null;
      const next = { size: room, isUp, from: isUp ? place : (place ?? since) };
      const recent = await collectRecent(options, next, since);
      stop = recent.stop;
      return recent.nodes.map((node) => {
        const value = node.action.conducted.getTime();
        return { node, position: { generation, zone: 'older', value, actionId: node.actionId } };
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
    return {
      ...found,
      end: encodeRanked(list, { generation, zone: 'older', value: time.getTime(), actionId }),
    };
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

/** Entries of the generation's day before the rules, best first. */
async function rank(
  core: FeedReads,
  { userId, scan }: OrderedPage,
  generation: Date,
): Promise<RankedEntry[]> {
  const [entries, interactions] = await Promise.all([
    entriesSince(scan, new Date(rankedSince(generation).getTime() - MAX_FUTURE_MS)),
    interactionsByActor(core, userId, generation),
  ]);
  const ranked: RankedEntry[] = [];
  const since = rankedSince(generation).getTime();
  for (let from = 0; from < entries.length; from += RANKED_CHUNK) {
    const chunk = entries.slice(from, from + RANKED_CHUNK);
    const facts = await factsOf(core, chunk, generation);
    for (const entry of chunk) {
      const action = facts.get(entry.actionId);
      if (action === undefined || action.conducted.getTime() < since) continue;
      const { score } = rankedScore(action, { generation, scored: action.score, interactions }, core.ranking);
      ranked.push({ entry, actionId: entry.actionId, score });
    }
  }
  return ranked.sort(compareRanked);
}

/** Reads only what the process does not know of actions at these revisions. */
async function factsOf(
  { rankedActions, rankingCache, scores }: FeedReads,
  entries: readonly FeedEntry[],
  generation: Date,
): Promise<ReadonlyMap<ActionId, RankedFacts>> {
  const facts = new Map<ActionId, RankedFacts>();
  const revs = new Map<ActionId, number | undefined>();
  for (const { actionId, rev } of entries) {
    const known = rankingCache.factsOf(actionId, rev, generation);
    if (known === null) revs.set(actionId, rev);
    else facts.set(actionId, known);
  }
  if (revs.size === 0) return facts;
  const ids = [...revs.keys()];
  const [actions, scored] = await Promise.all([rankedActions.find(ids), scores.find(ids, generation)]);
  for (const { id, actorId, conducted, type, rev } of actions) {
    const found = { ...{ id, actorId, conducted, type }, score: scored.get(id) };
    facts.set(id, found);
    rankingCache.keepFacts(found, rev, generation);
  }
  return facts;
}

/** A relevancy is at most MAX_FUTURE_MS below `conducted`, so these contain the whole day. */
async function entriesSince(scan: OrderedPage['scan'], since: Date): Promise<FeedEntry[]> {
  const found: FeedEntry[] = [];
  let after: FeedPosition | null = null;
  for (;;) {
    const entries = await scan({ from: after, limit: RANKED_CHUNK, isUp: false });
    const last = entries.at(-1);
    found.push(...entries.filter((entry) => entry.relevancy.getTime() >= since.getTime()));
    if (entries.length < RANKED_CHUNK || last === undefined) return found;
    if (last.relevancy.getTime() < since.getTime()) return found;
    after = last;
  }
}

/** The first entries of a ranking that pass the rules, and one more than `size` if there is one. */
async function rankedEdges(
  ranked: readonly RankedEntry[],
  {
    size,
    generation,
    select,
  }: Pick<OrderedPage, 'select'> & { readonly size: number; readonly generation: Date },
): Promise<readonly RankedEdge[]> {
  const scores = new Map(ranked.map(({ actionId, score }) => [actionId, score]));
  const edges: RankedEdge[] = [];
  let limit = size + 1;
  for (let taken = 0; edges.length <= size && taken < ranked.length; taken += limit, limit *= 2) {
    const nodes = await select(ranked.slice(taken, taken + limit).map(({ entry }) => entry));
    for (const node of nodes) {
      const { actionId } = node;
      const value = scores.get(actionId) ?? 0;
      edges.push({ node, position: { generation, zone: 'ranked', value, actionId } });
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

interface RankedScore {
  readonly score: number;
  readonly vars: {
    /** Time of the generation, ISO 8601. */
    readonly generation: string;
    /** The part of the score that is equal for all readers. */
    readonly actionScore: number;
    /** `false`: no generation has scored the action yet, so it counts as one without interactions. */
    readonly isScored: boolean;
    /** Number of the reader's newest interactions with actions of this actor. */
    readonly interactionsWithActor: number;
    readonly relationship: number;
  };
}

/** Before the first generation has scores: the previous one, which never gets any, so that paging stays stable. */
async function latestGeneration({ scores }: FeedReads): Promise<Date> {
  return (await scores.current()) ?? new Date(generationAt(clock.now()).getTime() - RESCORE_EVERY_MS);
}

/** The reader's interactions with other members' actions before the generation, counted by actor. */
async function interactionsByActor(
  { interactions, rankedActions, rankingCache }: FeedReads,
  userId: UserId,
  generation: Date,
): Promise<ReadonlyMap<UserId, number>> {
  const known = rankingCache.relationsOf(userId, generation);
  if (known !== null) return known;
  const ids = await interactions.newestBy(userId, generation, INTERACTIONS);
  const counts = new Map<UserId, number>();
  const found = ids.length === 0 ? [] : await rankedActions.find([...new Set(ids)]);
  const actors = new Map(found.map(({ id, actorId }) => [id, actorId]));
  for (const id of ids) {
    const actorId = actors.get(id);
    if (actorId !== undefined && actorId !== userId) counts.set(actorId, (counts.get(actorId) ?? 0) + 1);
  }
  rankingCache.keepRelations(userId, counts, generation);
  return counts;
}

/** The score of an action that is not too old to be ranked. `scored`: the generation's score of it, if any. */
function rankedScore(
  action: { readonly conducted: Date; readonly actorId: UserId; readonly type: string },
  {
    generation,
    scored,
    interactions,
  }: {
    readonly generation: Date;
    readonly scored: number | undefined;
    readonly interactions: ReadonlyMap<UserId, number>;
  },
  weights: RankingWeights,
) {
  const actionScore = scored ?? initialScore(action, generation, weights);
  const interactionsWithActor = interactions.get(action.actorId) ?? 0;
  const relationship = relationshipFactor(interactionsWithActor, weights);
  const isScored = scored !== undefined;
  return { score: actionScore * relationship, actionScore, isScored, interactionsWithActor, relationship };
}

/** The score of a single action in the latest generation. Three round trips; one for actions too old to be ranked. */
export async function scoreFor(
  core: FeedReads,
  userId: UserId,
  action: {
    readonly id: ActionId;
    readonly conducted: Date;
    readonly actorId: UserId;
    readonly type: string;
  },
): Promise<RankedScore | null> {
  const generation = await latestGeneration(core);
  if (action.conducted.getTime() < rankedSince(generation).getTime()) return null;
  const [scores, interactions] = await Promise.all([
    core.scores.find([action.id], generation),
    interactionsByActor(core, userId, generation),
  ]);
  const known = { generation, scored: scores.get(action.id), interactions };
  const { score, ...vars } = rankedScore(action, known, core.ranking);
  return { score, vars: { generation: generation.toISOString(), ...vars } };
}

export const TOP: FeedOrderRow = {
  ...{ name: 'TOP', description: 'By score, highest first.', ...BY_RELEVANCY },
  // The day is ranked as a whole.
  reads: 100,
  read: readTop,
};
