import type { Engagement, ReactionCount } from '../../domain/action.ts';
import type { EngagementDocument } from './documents.ts';

export function toEngagement({ reactions, ...counts }: EngagementDocument): Engagement {
  return { ...counts, reactions: reactionCounts(Object.entries(reactions ?? {})) };
}

export function engagementDocument({ reactions, ...counts }: Engagement): EngagementDocument {
  if (reactions.length === 0) return counts;
  return {
    ...counts,
    reactions: Object.fromEntries(reactions.map(({ reaction, count }) => [reaction, count])),
  };
}

/** Most frequent first; ties in an order that is the same for all readers. */
export function reactionCounts(counts: Iterable<readonly [string, number]>): ReactionCount[] {
  return Array.from(counts, ([reaction, count]) => ({ reaction, count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.reaction < b.reaction ? -1 : 1));
}
