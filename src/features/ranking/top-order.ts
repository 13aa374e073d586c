import type { UserId } from '../../domain/action.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { initialScore, rankedSince, relationshipFactor, type RankingWeights } from '../../domain/ranking.ts';
import type { FeedReads } from '../../feed/feed-reader.ts';
import type { FeedOrderRow, ScoreExplanation } from '../../feed/page/declared.ts';
import { BY_RELEVANCY } from '../../feed/page/orders.ts';
import {
  latestGeneration,
  lessened,
  lessIn,
  type Ranking,
  readRanked,
  relationsOf,
  tasteOf,
} from './ranked-page.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { Relation } from './store.ts';

declare module '../../core/shapes.ts' {
  interface FeedOrders {
    readonly TOP: true;
  }
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
async function explainScore(
  core: FeedReads,
  { userId, action }: NewsfeedItem,
  { reader }: { readonly reader: ReaderProfile },
): Promise<ScoreExplanation | null> {
  const generation = await latestGeneration(core);
  if (action.conducted.getTime() < rankedSince(generation).getTime()) return null;
  const [scores, relations, taste] = await Promise.all([
    core.scores.find([action.id], generation),
    relationsOf(core, userId, generation),
    tasteOf(core, reader),
  ]);
  const known = { generation, scored: scores.get(action.id)?.score, relations };
  const ranked = { ...action, type: action.descriptor.type };
  const { score, ...vars } = rankedScore(ranked, known, core.ranking);
  return {
    score: lessened(score, taste, ranked),
    vars: { generation: generation.toISOString(), ...vars, ...lessIn(taste, ranked) },
  };
}

/** Actions of the day before a generation, by their scores in it. */
const BY_SCORE: Ranking = {
  name: 'TOP',
  earliest: rankedSince,
  withContent: false,
  withShown: false,
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
