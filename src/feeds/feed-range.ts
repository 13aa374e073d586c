import { compareFeedPositions, type FeedPosition } from '../domain/newsfeed-item.ts';
import type { FeedQuery } from './feed-store.ts';

type FeedRange = Pick<FeedQuery, 'after' | 'since' | 'until'>;

export function isInRange(position: FeedPosition, { after, since, until }: FeedRange): boolean {
  const { relevancy } = position;
  return (
    (after === undefined || compareFeedPositions(after, position) < 0) &&
    (since === undefined || relevancy.getTime() >= since.getTime()) &&
    (until === undefined || relevancy.getTime() < until.getTime())
  );
}
