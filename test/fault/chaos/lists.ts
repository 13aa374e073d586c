import type { FeedPage } from '@fanfare/client';
import { encodeNewsfeedItemId } from '../../../src/graphql/global-id.ts';
import { clientOf } from '../../support/client-watches.ts';
import { feedFor, type Model, type ModelItem, type ModelReader } from '../../support/model.ts';
import { referenceOf } from '../kills/reference.ts';
import { wholeFeed, type Shown } from '../../support/mirror.ts';
import { watchesUnreadOnly, type World } from './world.ts';

/** Unread entries are counted up to this. */
const COUNTED_TO = 100;

/** How feeds, live lists and unread counts differ from what the records say. Empty: in nothing. */
export async function listDifferences(world: World): Promise<string[]> {
  const reference = await referenceOf(world.app.app.database.collections, world.readers);
  const differences = await Promise.all(
    reference.readers.map((reader) => differencesOf(world, reference, reader)),
  );
  return differences.flat();
}

async function differencesOf(world: World, reference: Model, reader: ModelReader): Promise<string[]> {
  const { userId } = reader;
  const items = feedFor(reference, reader);
  const expected = shownOf(userId, items);
  const watched = watchesUnreadOnly(userId)
    ? shownOf(
        userId,
        items.filter(({ isUnread }) => isUnread),
      )
    : expected;
  const unread = Math.min(COUNTED_TO, items.filter(({ isUnread }) => isUnread).length);
  const client = await clientOf({ token: world.app.token, url: world.fleet.apiUrl() }, userId);
  const feed: { readonly shown: Shown; readonly unread: FeedPage['unread'] } = await wholeFeed(client);
  const differences = [
    ...listDifference(`the feed of ${userId}`, feed.shown, expected),
    ...orderDifference(userId, [...feed.shown.keys()], [...expected.keys()]),
    ...countDifference(`the unread count of ${userId}`, feed.unread.count, unread),
  ];
  for (const mirror of world.mirrors)
    if (mirror.reader === userId) {
      differences.push(...listDifference(`the live list of ${userId}`, mirror.shown, watched));
      if (mirror.unread !== undefined)
        differences.push(...countDifference(`the live unread count of ${userId}`, mirror.unread, unread));
    }
  return differences;
}

function shownOf(userId: string, items: readonly ModelItem[]): Shown {
  return new Map(
    items.map(({ action, relevancy }) => [
      encodeNewsfeedItemId(userId, action.id),
      new Date(relevancy).toISOString(),
    ]),
  );
}

function listDifference(what: string, actual: Shown, expected: Shown): string[] {
  return [...new Set([...actual.keys(), ...expected.keys()])].flatMap((id) => {
    const [is, should] = [actual.get(id), expected.get(id)];
    if (is === should) return [];
    const item = Buffer.from(id, 'base64').toString().slice(-24);
    return [`${what} has ${item} at ${is ?? 'no place'}, not at ${should ?? 'no place'}`];
  });
}

function orderDifference(userId: string, actual: readonly string[], expected: readonly string[]): string[] {
  const at = actual.findIndex((id, n) => id !== expected[n]);
  const isSameSet = actual.length === expected.length && actual.every((id) => expected.includes(id));
  return at === -1 || !isSameSet ? [] : [`the feed of ${userId} is in another order from ${String(at)} on`];
}

function countDifference(what: string, actual: number, expected: number): string[] {
  return actual === expected ? [] : [`${what} is ${String(actual)}, not ${String(expected)}`];
}
