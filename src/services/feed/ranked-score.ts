import type { Core } from '../core.ts';
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

/** Number of the reader's newest interactions that determine their relationships. */
const INTERACTIONS = 200;

export interface RankedScore {
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
