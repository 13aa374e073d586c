import type { ActionId, Engagement } from './action.ts';

/** Interval between two computations of the scores. */
export const RESCORE_EVERY_MS = 15 * 60_000;

/** Number of generations whose scores are kept, so that paging within one is not interrupted. */
export const GENERATIONS_KEPT = 5;
/** Actions younger than this are ranked by score; older ones follow, ordered by `conducted`. */
export const RANKED_FOR_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Weights of the score; none is negative. */
export interface RankingWeights {
  /** The base score is 1. Each counter adds its weight times the logarithm of the counter. */
  readonly like: number;
  readonly comment: number;
  readonly reshare: number;
  /** Exponent of the age in hours. */
  readonly decay: number;
  /** Weight of the logarithm of the reader's interactions with the actor's actions; the factor starts at 1. */
  readonly relationship: number;
  /** Factor per descriptor type; 1 for types not listed. */
  readonly types: Readonly<Record<string, number>>;
}

export const DEFAULT_RANKING: RankingWeights = {
  like: 0.5,
  comment: 1,
  reshare: 1,
  decay: 1.8,
  relationship: 0.5,
  types: {},
};

export interface ScoredAction {
  readonly conducted: Date;
  readonly type: string;
  readonly engagement: Pick<Engagement, 'likes' | 'comments' | 'reshares'>;
}

const UNTOUCHED: ScoredAction['engagement'] = { likes: 0, comments: 0, reshares: 0 };

/** Sort key of a ranked action: score, then action id, both descending. */
export interface RankedPosition {
  readonly score: number;
  readonly actionId: ActionId;
}

/** Scoring generation of a moment; the same on every process. */
export function generationAt(now: Date): Date {
  return new Date(Math.floor(now.getTime() / RESCORE_EVERY_MS) * RESCORE_EVERY_MS);
}

/** Earliest `conducted` that a generation ranks, inclusive. */
export function rankedSince(generation: Date): Date {
  return new Date(generation.getTime() - RANKED_FOR_MS);
}

/** Score without regard to the reader: engagement, weighted by type, divided by a power of the age at this moment. */
export function actionScore(action: ScoredAction, at: Date, weights: RankingWeights): number {
  const { likes, comments, reshares } = action.engagement;
  const base =
    1 +
    weights.like * Math.log1p(likes) +
    weights.comment * Math.log1p(comments) +
    weights.reshare * Math.log1p(reshares);
  const ageHours = Math.max(0, at.getTime() - action.conducted.getTime()) / HOUR_MS;
  return (base * (weights.types[action.type] ?? 1)) / (1 + ageHours ** weights.decay);
}

/** Provisional score until the next generation: that of an action without interactions. */
export function initialScore(
  action: { readonly conducted: Date; readonly type: string },
  at: Date,
  weights: RankingWeights,
): number {
  const { conducted, type } = action;
  return actionScore({ conducted, type, engagement: UNTOUCHED }, at, weights);
}

/** Factor for a reader, from the number of their interactions with the actor's actions. */
export function relationshipFactor(interactions: number, weights: RankingWeights): number {
  return 1 + weights.relationship * Math.log1p(interactions);
}

/** Ranking order: negative when `a` comes before `b`. */
export function compareRanked(a: RankedPosition, b: RankedPosition): number {
  return b.score - a.score || (a.actionId < b.actionId ? 1 : a.actionId > b.actionId ? -1 : 0);
}
