import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { OrderedPage } from './paging.ts';
import type { Page } from '../../features/shapes.ts';
import { clock } from '../../lib/clock.ts';
import type { Core } from '../../features/core.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import {
  generationAt,
  initialScore,
  rankedSince,
  relationshipFactor,
  RESCORE_EVERY_MS,
  type RankingWeights,
} from '../../domain/ranking.ts';

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
export async function latestGeneration({ scores }: Core): Promise<Date> {
  return (await scores.current()) ?? new Date(generationAt(clock.now()).getTime() - RESCORE_EVERY_MS);
}

/** The reader's interactions with other members' actions before the generation, counted by actor. */
export async function interactionsByActor(
  { interactions, rankedActions }: Core,
  userId: UserId,
  generation: Date,
): Promise<ReadonlyMap<UserId, number>> {
  const ids = await interactions.newestBy(userId, generation, INTERACTIONS);
  const counts = new Map<UserId, number>();
  if (ids.length === 0) return counts;
  const actors = new Map(
    (await rankedActions.find([...new Set(ids)])).map(({ id, actorId }) => [id, actorId]),
  );
  for (const id of ids) {
    const actorId = actors.get(id);
    if (actorId !== undefined && actorId !== userId) counts.set(actorId, (counts.get(actorId) ?? 0) + 1);
  }
  return counts;
}

/** `scored`: the generation's score of the action, if any. `null`: the action is too old to be ranked. */
export function rankedScore(
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
): RankedScore | null {
  if (action.conducted.getTime() < rankedSince(generation).getTime()) return null;
  const actionScore = scored ?? initialScore(action, generation, weights);
  const interactionsWithActor = interactions.get(action.actorId) ?? 0;
  const relationship = relationshipFactor(interactionsWithActor, weights);
  return {
    score: actionScore * relationship,
    vars: {
      generation: generation.toISOString(),
      ...{ actionScore, isScored: scored !== undefined, interactionsWithActor, relationship },
    },
  };
}

/** The score of a single action in the latest generation. Three round trips; one for actions too old to be ranked. */
export async function scoreFor(
  core: Core,
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
  return rankedScore(action, known, core.ranking);
}

const CHUNK = 250;

/**
 * A page of a feed ordered by `conducted`. The stored feed is ordered by relevancy, and a relevancy is at most MAX_FUTURE_MS
 * below `conducted`. So an item is final once everything not yet examined is older. Costs two round trips per 250 entries
 * down to the end of the page; bumped items are the ones examined in addition.
 * @throws FanfareError BAD_CURSOR
 */
export async function readRecent(options: OrderedPage): Promise<Page<NewsfeedItem>> {
  const { size } = options;
  const list = `feed:RECENT:${options.userId}`;
  const cursor = options.after === null ? null : decodePosition(list, options.after);
  const asOf = cursor?.asOf ?? clock.now();
  const nodes = await collectRecent({ ...options, behind: cursor });
  const edges = nodes.slice(0, size).map((node) => ({
    node,
    cursor: encodePosition(list, { time: node.action.conducted, actionId: node.actionId, asOf }),
  }));
  return { edges, hasNextPage: nodes.length > size, endCursor: edges.at(-1)?.cursor ?? null };
}

/** The next items after a position, newest first, plus one more than `size` if there is one. */
export async function collectRecent(
  options: Pick<OrderedPage, 'size' | 'scan' | 'select'> & { readonly behind: RecentPosition | null },
): Promise<readonly NewsfeedItem[]> {
  const { size, behind, scan, select } = options;
  let best: NewsfeedItem[] = [];
  let position: FeedPosition | null = null;
  for (;;) {
    const entries: readonly FeedEntry[] = await scan(position, CHUNK);
    const items = await select(entries);
    const further = items.filter((item) => behind === null || isBehind(item, behind));
    best = [...best, ...further].sort(compareRecency).slice(0, size + 1);
    position = entries.at(-1) ?? position;
    const last = best[size];
    if (entries.length < CHUNK || position === null) return best;
    if (last !== undefined && conducted(last) > position.relevancy.getTime() + MAX_FUTURE_MS) return best;
  }
}

interface RecentPosition {
  readonly time: Date;
  readonly actionId: string;
}

function conducted(item: NewsfeedItem): number {
  return item.action.conducted.getTime();
}

function compareRecency(a: NewsfeedItem, b: NewsfeedItem): number {
  return conducted(b) - conducted(a) || (a.actionId < b.actionId ? 1 : -1);
}

function isBehind(item: NewsfeedItem, cursor: RecentPosition): boolean {
  const time = cursor.time.getTime();
  return conducted(item) < time || (conducted(item) === time && item.actionId < cursor.actionId);
}
