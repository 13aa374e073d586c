import { compareFeedPositions, type FeedPosition, FLOOR_ABOVE_ALL } from '../domain/newsfeed-item.ts';
import type { FeedQuery } from './feed-store.ts';
import { positionAbove } from '../domain/cursor.ts';

type FeedRange = Pick<FeedQuery, 'after' | 'since' | 'until'>;

export function isInRange(position: FeedPosition, { after, since, until }: FeedRange): boolean {
  const { relevancy } = position;
  return (
    (after === undefined || compareFeedPositions(after, position) < 0) &&
    (since === undefined || relevancy.getTime() >= since.getTime()) &&
    (until === undefined || relevancy.getTime() < until.getTime())
  );
}

export function isAboveAll(floor: FeedPosition | null): boolean {
  return floor !== null && compareFeedPositions(floor, FLOOR_ABOVE_ALL) === 0;
}

export function isAbove(position: FeedPosition, floor: FeedPosition | null): boolean {
  return floor === null || compareFeedPositions(position, floor) < 0;
}

/** Returns the first when they are equal. */
export function higher(a: FeedPosition | null, b: FeedPosition | null): FeedPosition | null {
  if (a === null || b === null) return a ?? b;
  return compareFeedPositions(a, b) <= 0 ? a : b;
}

/** Query start for entries at the floor and below; empty when everything is below. */
export function startBelow(floor: FeedPosition, after: FeedPosition | undefined): { after?: FeedPosition } {
  if (isAboveAll(floor)) return {};
  const { time, actionId } = positionAbove({ time: floor.relevancy, actionId: floor.actionId });
  const start = { relevancy: time, actionId };
  return { after: after === undefined || isAbove(after, start) ? start : after };
}
