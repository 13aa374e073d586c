import type { DeclaredView } from '../../descriptors/host-views.ts';
import type { DeliveryReason, FeedEntry, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { FeedReads } from '../../feed/feed-reader.ts';
import type { FeedOrderRow, FeedView, ScoreExplanation } from '../../feed/page/declared.ts';
import { BY_CONDUCTED } from '../../feed/page/orders.ts';
import { compileRank, type RankExpression, type RankVariables } from './rank-expression.ts';
import {
  ALWAYS,
  factsOf,
  latestGeneration,
  type RankedOf,
  type Ranking,
  readRanked,
  relationsOf,
  shownTo,
  lessened,
  lessIn,
  tasteOf,
} from './ranked-page.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { RankedFacts, Relation } from './store.ts';

declare module '../../core/shapes.ts' {
  interface ViewOrders {
    readonly RANK: true;
  }
}

const compiled = new WeakMap<object, RankExpression>();

/** @throws Error with what is wrong, for people */
function expressionOf(view: Pick<DeclaredView, 'rank'>): RankExpression {
  const known = compiled.get(view) ?? compileRank(view.rank ?? '');
  compiled.set(view, known);
  return known;
}

const FOLLOWED: ReadonlySet<DeliveryReason> = new Set(['FOLLOW', 'PULL', 'RESHARE']);
const HOUR_MS = 3_600_000;
/** So many interactions with a member make half of the closest relationship. */
const HALF = 5;
/** Items without a value come last among those that are ranked. */
const LOWEST = -Number.MAX_VALUE;

/** Values of all variables for one entry. */
function variablesOf(
  { contentOf }: RankExpression,
  { actionId, reasons }: Pick<FeedEntry, 'actionId' | 'reasons'>,
  { actorId, conducted, type, counts, descriptor }: RankedFacts,
  { generation, relations, shown }: RankedOf,
): RankVariables {
  return {
    likes: counts.likes,
    comments: counts.comments,
    reshares: counts.reshares,
    reactions: counts.reactions,
    ageHours: Math.max(0, generation.getTime() - conducted.getTime()) / HOUR_MS,
    isFollowed: reasons.some((reason) => FOLLOWED.has(reason)),
    reasons,
    relationship: relationshipOf(relations.get(actorId)),
    actionType: type,
    tags: descriptor?.tags ?? [],
    impressions: shown.get(actionId) ?? 0,
    descriptor: contentOf(descriptor ?? {}),
  };
}

function relationshipOf({ recent }: Relation = { interactions: 0, recent: 0 }): number {
  return recent / (recent + HALF);
}

function byExpression(expression: RankExpression): Ranking {
  return {
    name: 'RANK',
    earliest: () => ALWAYS,
    withContent: true,
    withShown: expression.uses.has('impressions'),
    scoring: (_core: FeedReads, of) => (entry, facts) =>
      expression.valueOf(variablesOf(expression, entry, facts, of)) ?? LOWEST,
  };
}

function rankFaults(view: DeclaredView) {
  try {
    expressionOf(view);
    return [];
  } catch (error) {
    return [
      {
        path: `views.${view.name}.order.rank`,
        message: error instanceof Error ? error.message : String(error),
      },
    ];
  }
}

/** The value in the latest generation, with the variables that the expression uses. Three round trips. */
async function explainRank(
  core: FeedReads,
  item: NewsfeedItem,
  { reader, view }: { readonly reader: ReaderProfile; readonly view: FeedView | null },
): Promise<ScoreExplanation | null> {
  if (view === null) return null;
  const expression = expressionOf(view);
  const { valueOf, uses } = expression;
  const generation = await latestGeneration(core);
  const { userId } = item;
  const [facts, relations, taste, shown] = await Promise.all([
    factsOf(core, [item], { generation, withContent: true }),
    relationsOf(core, userId, generation),
    tasteOf(core, reader),
    shownTo(core, userId, generation),
  ]);
  const found = facts.get(item.actionId);
  if (found === undefined) return null;
  const variables = variablesOf(expression, item, found, { userId, generation, relations, shown });
  const { descriptor, actionType, ...others } = variables;
  const named = {
    ...{ ...others, type: actionType },
    ...Object.fromEntries(Object.entries(descriptor).map(([name, value]) => [`descriptor.${name}`, value])),
  };
  const used = Object.entries(named).filter(([name]) => uses.has(name));
  const value = valueOf(variables);
  return {
    score: value === null ? null : lessened(value, taste, found),
    vars: { generation: generation.toISOString(), ...Object.fromEntries(used), ...lessIn(taste, found) },
  };
}

export const RANK: FeedOrderRow = {
  ...{ name: 'RANK', description: 'By the value of an expression, highest first.', ...BY_CONDUCTED },
  ofViews: rankFaults,
  // The newest thousand are ranked as a whole.
  reads: 100,
  read: (core, page) => readRanked(core, page, byExpression(expressionOf(page.view ?? { rank: null }))),
  explain: explainRank,
};
