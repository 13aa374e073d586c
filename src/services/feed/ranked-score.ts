import type { ActionId, UserId } from '../../domain/action.ts';
import {
  generationAt,
  initialScore,
  rankedSince,
  relationshipFactor,
  RESCORE_EVERY_MS,
  type RankingWeights,
} from '../../domain/ranking.ts';
import { clock } from '../../lib/clock.ts';
import type { ReadingDependencies } from '../service-parts.ts';

/** So many of a reader's newest interactions tell whose actions they care for. */
const INTERACTIONS = 200;

export interface RankedScore {
  readonly score: number;
  readonly vars: {
    /** Of the generation, as ISO-8601. */
    readonly generation: string;
    /** The part that is the same for all readers. */
    readonly actionScore: number;
    /** False: nothing has scored the action yet, and it counts as untouched. */
    readonly isScored: boolean;
    /** How many of the reader's newest interactions were with actions of this actor. */
    readonly interactionsWithActor: number;
    readonly relationship: number;
  };
}

/** Before the first generation there are no scores: the one that would have been latest stays without for good. */
export async function latestGeneration({ scores }: Pick<ReadingDependencies, 'scores'>): Promise<Date> {
  return (await scores.current()) ?? new Date(generationAt(clock.now()).getTime() - RESCORE_EVERY_MS);
}

/** How often the reader has interacted with others' actions, by actor, before the generation. */
export async function interactionsByActor(
  { interactions, rankedActions }: ReadingDependencies,
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

/** `scored`: what the generation gave the action, if anything. Null: it is older than what a generation ranks. */
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

/** The same for a single action, by the latest generation. Three round trips; one for what is older. */
export async function scoreFor(
  dependencies: ReadingDependencies,
  userId: UserId,
  action: {
    readonly id: ActionId;
    readonly conducted: Date;
    readonly actorId: UserId;
    readonly type: string;
  },
): Promise<RankedScore | null> {
  const generation = await latestGeneration(dependencies);
  if (action.conducted.getTime() < rankedSince(generation).getTime()) return null;
  const [scores, interactions] = await Promise.all([
    dependencies.scores.find([action.id], generation),
    interactionsByActor(dependencies, userId, generation),
  ]);
  const known = { generation, scored: scores.get(action.id), interactions };
  return rankedScore(action, known, dependencies.ranking);
}
