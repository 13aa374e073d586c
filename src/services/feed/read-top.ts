import type { Core } from '../core.ts';
import { decodeRanked, encodeRanked, type RankedCursor } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { compareRanked, rankedSince, RESCORE_EVERY_MS, type RankedPosition } from '../../domain/ranking.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import { GENERATIONS_KEPT } from '../../storage/actions/scores.ts';
import type { OrderedPage } from './ordered-page.ts';
import { collectPage } from './paging.ts';
import { collectRecent } from './read-recent.ts';
import { interactionsByActor, latestGeneration, rankedScore } from './ranked-score.ts';
import type { Page } from '../shapes.ts';

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
export async function readTop(core: Core, options: OrderedPage): Promise<Page<NewsfeedItem>> {
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
