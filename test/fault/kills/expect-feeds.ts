import { expect } from 'vitest';
import {
  compareFeedPositions,
  type FeedEntry,
  type FeedPosition,
} from '../../../src/domain/newsfeed-item.ts';
import type { FeedPage } from '../../../src/core/shapes.ts';
import { readStored } from '../../conformance/feed-store-tools.ts';
import { feedFor, type Model, type ModelReader } from '../../support/model.ts';
import { referenceOf } from './reference.ts';
import type { World } from './world.ts';

/** An entry in words that a person can compare. */
function inWords({ actionId, relevancy, reasons }: FeedEntry): string {
  return `${actionId} at ${relevancy.toISOString()} for ${[...new Set(reasons)].sort().join(', ')}`;
}

function expectedOf(reference: Model, reader: ModelReader): FeedEntry[] {
  return feedFor(reference, reader).map(({ action, relevancy, reasons }) => ({
    actionId: action.id,
    relevancy: new Date(relevancy),
    reasons,
  }));
}

/** A reader's feed by the service, page after page to the last. */
async function shownTo({ app }: World, userId: string, size: number): Promise<FeedEntry[]> {
  const shown: FeedEntry[] = [];
  let after: string | null = null;
  for (;;) {
    const page: FeedPage = await app.services.readFeed(app.session(userId), { first: size, after });
    expect([userId, page.state]).toEqual([userId, 'READY']);
    shown.push(...page.edges.map(({ node }) => node));
    if (!page.hasMore) return shown;
    after = page.end;
  }
}

/** Down to where what is stored of the feed is complete, by the store and by the record of the feed; null: to the end. */
async function floorOf(
  { app }: World,
  userId: string,
  own: FeedPosition | null,
): Promise<FeedPosition | null> {
  const document = await app.app.database.collections.feeds.findOne({ _id: userId });
  const noted = document?.floor;
  if (noted === undefined) return own;
  const floor = { relevancy: noted.relevancy, actionId: noted.actionId.toHexString() };
  return own === null || compareFeedPositions(floor, own) < 0 ? floor : own;
}

/**
 * Expects every reader to be shown exactly what the definition gives, and what is stored for them to be a part of that,
 * each action once, with nothing missing above its floor. Returns how many entries were compared.
 */
export async function expectFeeds(world: World, pageSize: number): Promise<number> {
  const reference = await referenceOf(world.app.app.database.collections, world.readers);
  const counts = reference.readers.map(async (reader) => {
    const { userId } = reader;
    const expected = expectedOf(reference, reader);
    const feed = expected.map(inWords);
    expect({ userId, feed: (await shownTo(world, userId, pageSize)).map(inWords) }).toEqual({ userId, feed });
    const stored = await readStored(world.store, userId, 100);
    const ids = stored.entries.map(({ actionId }) => actionId);
    expect({ userId, ids }).toEqual({ userId, ids: [...new Set(ids)] });
    const floor = await floorOf(world, userId, stored.floor);
    const above = (entries: readonly FeedEntry[]): string[] =>
      entries.filter((entry) => floor === null || compareFeedPositions(entry, floor) < 0).map(inWords);
    expect({ userId, above: above(stored.entries) }).toEqual({ userId, above: above(expected) });
    return feed.length;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
