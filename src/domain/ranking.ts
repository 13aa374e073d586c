import type { Action, ActionId, Engagement } from './action.ts';

/** How often scores are recomputed. */
export const RESCORE_EVERY_MS = 15 * 60_000;
/** Actions conducted so long ago are ranked by score; older ones follow in the order they were conducted in. */
export const RANKED_FOR_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** What a score is made from. All of them are 0 or more. */
export interface RankingWeights {
  /** What the logarithm of each counter adds to the base score of 1. */
  readonly like: number;
  readonly comment: number;
  readonly reshare: number;
  /** Exponent of the age in hours. */
  readonly decay: number;
  /** What the logarithm of the reader's interactions with the actor's actions adds to a factor of 1. */
  readonly relationship: number;
  /** Factor by descriptor type; 1 for those not named. */
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

/** Where an action stands in a ranking: score first, then action id, both descending. */
export interface RankedPosition {
  readonly score: number;
  readonly actionId: ActionId;
}

/** The moment for which the scores of now are made: all processes agree on it. */
export function generationAt(now: Date): Date {
  return new Date(Math.floor(now.getTime() / RESCORE_EVERY_MS) * RESCORE_EVERY_MS);
}

/** From when on actions are ranked in a generation. Inclusive. */
export function rankedSince(generation: Date): Date {
  return new Date(generation.getTime() - RANKED_FOR_MS);
}

/** The same for every reader: engagement, weighted by type, divided by a power of the age at this moment. */
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

/** The score of an action that no generation has scored yet: as if nobody had interacted with it. */
export function initialScore(
  action: Pick<Action, 'conducted'> & { readonly type: string },
  at: Date,
  weights: RankingWeights,
): number {
  return actionScore({ ...action, engagement: UNTOUCHED }, at, weights);
}

/** What a reader's interactions with the actions of one actor multiply their scores by. */
export function relationshipFactor(interactions: number, weights: RankingWeights): number {
  return 1 + weights.relationship * Math.log1p(interactions);
}

/** Order of a ranking: negative when `a` comes before `b`. */
export function compareRanked(a: RankedPosition, b: RankedPosition): number {
  return b.score - a.score || (a.actionId < b.actionId ? 1 : a.actionId > b.actionId ? -1 : 0);
}
