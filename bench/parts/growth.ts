import type { PartReport } from '../harness/report.ts';
import { fanOutGrowth, followsGrowth, itemsGrowth } from './growth-curves.ts';
import type { Part, PartContext } from './part.ts';

/** How costs grow with the number of stored items, of follows and of followers. */
export const growthPart: Part = { name: 'growth', run };

async function run(context: PartContext): Promise<PartReport> {
  const items = await itemsGrowth(context);
  const follows = await followsGrowth(context);
  const followers = await fanOutGrowth(context);
  return {
    title: 'Growth',
    about: [
      'A page of 25 for a reader with 500 entries, at the service, the whole request, p50; beside it the two raw queries. First with more and more items of others in the same collection, then for readers with more and more follows.',
      'Fan-out of a new action, from the call of publishAction to DONE, for each follower.',
      'Each size is a database of its own and all are measured in turn, so that the curves met the same machine.',
    ],
    figures: [...items.figures, ...follows.figures, ...followers.figures],
    verdicts: items.verdicts,
    charts: [...items.charts, ...follows.charts, ...followers.charts],
    raw: { items: items.raw, follows: follows.raw, followers: followers.raw },
  };
}
