import type { UserId } from '../../domain/action.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { initialScore, rankedSince, relationshipFactor, type RankingWeights } from '../../domain/ranking.ts';
import type { FeedReads } from '../../feed/feed-reader.ts';
import type { FeedOrderRow } from '../../feed/page/declared.ts';
import { BY_RELEVANCY } from '../../feed/page/orders.ts';
import { latestGeneration, type Ranking, readRanked, relationsOf } from './ranked-page.ts';
import type { Relation } from './store.ts';

declare module '../../core/shapes.ts' {
  interface FeedOrders {
    readonly TOP: true;
  }
}

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

/** The score of an action that is not too old to be ranked. `scored`: the generation's score of it, if any. */
function rankedScore(
  action: { readonly conducted: Date; readonly actorId: UserId; readonly type: string },
  {
    generation,
    scored,
    relations,
  }: {
    readonly generation: Date;
    readonly scored: number | undefined;
    readonly relations: ReadonlyMap<UserId, Relation>;
  },
  weights: RankingWeights,
) {
  const actionScore = scored ?? initialScore(action, generation, weights);
  const interactionsWithActor = relations.get(action.actorId)?.interactions ?? 0;
  const relationship = relationshipFactor(interactionsWithActor, weights);
  const isScored = scored !== undefined;
  return { score: actionScore * relationship, actionScore, isScored, interactionsWithActor, relationship };
}

/** The score in the latest generation. Three round trips; one for actions too old to be ranked. */
async function explainScore(core: FeedReads, { userId, action }: NewsfeedItem): Promise<RankedScore | null> {
  const generation = await latestGeneration(core);
  if (action.conducted.getTime() < rankedSince(generation).getTime()) return null;
  const [scores, relations] = await Promise.all([
    core.scores.find([action.id], generation),
    relationsOf(core, userId, generation),
  ]);
  const known = { generation, scored: scores.get(action.id)?.score, relations };
  const { score, ...vars } = rankedScore({ ...action, type: action.descriptor.type }, known, core.ranking);
  return { score, vars: { generation: generation.toISOString(), ...vars } };
}

/** Actions of the day before a generation, by their scores in it. */
const BY_SCORE: Ranking = {
  name: 'TOP',
  since: rankedSince,
  withContent: false,
  scoring:
    ({ ranking }, { generation, relations }) =>
    (_entry, action) =>
      rankedScore(action, { generation, scored: action.score, relations }, ranking).score,
};

export const TOP: FeedOrderRow = {
  ...{ name: 'TOP', description: 'By score, highest first.', ...BY_RELEVANCY },
  // The day is ranked as a whole.
  reads: 100,
  read: (core, page) => readRanked(core, page, BY_SCORE),
  explain: explainScore,
};
