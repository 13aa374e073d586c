import { ObjectId } from 'mongodb';
import { expect } from 'vitest';
import { FanfareError } from '../../src/domain/errors.ts';
import { groupOf } from '../../src/descriptors/group-key.ts';
import type { CountedPage } from '../../src/core/shapes.ts';
import type { Parts } from './parts.ts';

export const REF = { id: 'site', type: 'site', label: 'Site' };
export const posted = (text: string): object => ({ posted: { postId: 'p', text, tags: ['news'] } });

const FILTERS = {
  all: {},
  'by ref': { refId: 'site' },
  'by actor': { actorIds: ['actor'] },
  'by type': { types: ['Posted'] },
  'by tag': { tags: ['news'] },
  'by reason': { reasons: ['FOLLOW', 'MENTION', 'PULL', 'RESHARE'] },
  unread: { unreadOnly: true },
} as const;
const ORDERS = ['RELEVANCY', 'RECENT', 'TOP'] as const;

type Look = (parts: Parts, userId: string, id: string) => Promise<readonly unknown[]>;

/** What is counted of a list must be what is listed of it, of one action at most. */
async function listOf(
  page: CountedPage<unknown> & { readonly countUnread?: () => Promise<{ readonly count: number }> },
): Promise<readonly unknown[]> {
  expect((await page.countTotal()).count).toBe(page.edges.length);
  if (page.countUnread !== undefined)
    expect((await page.countUnread()).count).toBeLessThanOrEqual(page.edges.length);
  return page.edges;
}

/** Nothing where it is answered that there is no such thing. */
async function unlessNotFound(read: () => Promise<unknown>): Promise<readonly unknown[]> {
  try {
    return [await read()];
  } catch (error) {
    if (error instanceof FanfareError && error.code === 'NOT_FOUND') return [];
    throw error;
  }
}

const present = <T>(one: T | null): readonly T[] => (one === null ? [] : [one]);

/** Every way by which a reader is shown an action that is in their feed, that they have bookmarked and that is pinned. */
const LOOKS: Readonly<Record<string, Look>> = {
  ...Object.fromEntries(
    ORDERS.flatMap((order) =>
      Object.entries(FILTERS).map(([name, filter]): [string, Look] => [
        `feed in ${order}, ${name}`,
        async ({ services, session }, userId) =>
          listOf(await services.readFeed(session(userId), { order, filter, withUnread: true })),
      ]),
    ),
  ),
  ...Object.fromEntries(
    Object.entries(FILTERS).map(([name, filter]): [string, Look] => [
      `groups, ${name}`,
      async ({ services, session }, userId) => {
        const page = await services.readFeedGroups(session(userId), { filter });
        await listOf(page);
        return Promise.all(page.edges.map(({ node }) => node.load(() => false)));
      },
    ]),
  ),
  async group({ services, session, database }, userId, id) {
    const document = await database.collections.actions.findOne({ _id: new ObjectId(id) });
    const groupKey = groupOf({ id, groupKey: document?.groupKey ?? null });
    return present(await services.getFeedGroup(session(userId), groupKey));
  },
  'unread count': async ({ services, session }, userId) =>
    present((await services.countUnread(session(userId))).count || null),
  'first unread': async ({ services, session }, userId) =>
    present(await services.findFirstUnread(session(userId))),
  item: async ({ services, session }, userId, id) =>
    present(await services.getNewsfeedItem(session(userId), id)),
  why: ({ services, session }, userId, id) =>
    unlessNotFound(() => services.explainFeedItem(session(userId), id, null)),
  action: async ({ services, session }, userId, id) => present(await services.getAction(session(userId), id)),
  ...Object.fromEntries(
    (['site', 'actor'] as const).flatMap((refId) =>
      [{}, { types: ['Posted'] }, { tags: ['news'] }].map((filter): [string, Look] => [
        `slice of ${refId}, ${JSON.stringify(filter)}`,
        async ({ services, session }, userId) =>
          listOf(await services.readSlice(session(userId), refId, { filter })),
      ]),
    ),
  ),
  bookmarks: async ({ services, session }, userId) =>
    listOf(await services.readBookmarks(session(userId), {})),
  pinned: ({ services, session }, userId) => services.readPinned(session(userId), 'site'),
  async export({ services, session }, userId) {
    const { actions = [] } = (await services.memberExport(session(userId), userId)) as { actions?: object[] };
    return actions;
  },
};
export const FEED_WAYS = Object.keys(LOOKS);

/** By which of these ways somebody is shown something. */
export async function waysThatShow(parts: Parts, userId: string, id: string): Promise<string[]> {
  const ways: string[] = [];
  for (const [way, look] of Object.entries(LOOKS))
    if ((await look(parts, userId, id)).length > 0) ways.push(way);
  return ways;
}
