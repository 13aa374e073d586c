import { expect, onTestFinished, test, vi } from 'vitest';
import { Reader } from '../../src/store/reader.ts';
import { notificationsOf } from '../../src/store/notification-store.ts';
import { createTestClient, testItem, testNotification, type TestClientOptions } from '../../src/testing.ts';

const at = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const LIST = [testNotification('b', at(2)), testNotification('a', at(1))];
const done = (): Promise<{ memberId: string }> => Promise.resolve({ memberId: 'me' });

/** A list of two, live. */
async function settle(options: Partial<TestClientOptions> = {}) {
  const client = createTestClient({ feed: () => [], notifications: () => LIST, ...options });
  const reader = new Reader({ client });
  const list = notificationsOf(reader, {});
  onTestFinished(list.use(() => undefined));
  await vi.waitFor(() => expect([list.getSnapshot().status, client.watching]).toEqual(['ready', 1]));
  const shown = (): string[] => list.getSnapshot().items.map(({ id }) => id);
  const counts = (): number[] => [list.getSnapshot().unseen.count, list.getSnapshot().unread.count];
  return { client, reader, list, shown, counts };
}

test('events put notifications in their place, and the counts follow', async () => {
  const { client, list, shown, counts } = await settle();
  expect([shown(), counts()]).toEqual([
    ['b', 'a'],
    [2, 2],
  ]);
  list.setAtTop(true);
  await client.emit({ __typename: 'NotificationAdded', notification: testNotification('c', at(3)) });
  await client.emit({ __typename: 'NotificationUpdated', notification: testNotification('a', at(4)) });
  await client.emit({ __typename: 'NotificationRemoved', notificationId: 'b' });
  const unseen = { count: 100, isExact: false };
  await client.emit({ __typename: 'NotificationCountsChanged', unseen, unread: { count: 7, isExact: true } });
  expect([shown(), counts(), list.getSnapshot().unseen.isExact]).toEqual([['a', 'c'], [100, 7], false]);
  // An event of the feed of the same reader changes nothing here.
  await client.emit({ __typename: 'FeedItemAdded', item: testItem('x', at(9)) });
  expect(shown()).toEqual(['a', 'c']);
});

test('what comes while the reader reads waits, and is counted', async () => {
  const { client, list, shown } = await settle();
  await client.emit({ __typename: 'NotificationAdded', notification: testNotification('c', at(3)) });
  expect([shown(), list.getSnapshot().waiting]).toEqual([['b', 'a'], 1]);
  expect(list.showWaiting()).toBe('c');
  expect(shown()).toEqual(['c', 'b', 'a']);
});

test('all is seen at once, and what comes after that is not', async () => {
  const markNotificationsSeen = vi.fn(done);
  const { client, list, counts } = await settle({ mutations: { markNotificationsSeen } });
  const marking = list.markSeen();
  expect(counts()).toEqual([0, 2]);
  await marking;
  expect(markNotificationsSeen).toHaveBeenCalledWith({ upTo: at(2) });
  list.setAtTop(true);
  await client.emit({ __typename: 'NotificationAdded', notification: testNotification('c', at(3)) });
  expect(counts()[0]).toBe(1);
  await list.markSeen();
  await list.markSeen();
  expect(markNotificationsSeen.mock.calls).toEqual([[{ upTo: at(2) }], [{ upTo: at(3) }]]);
});

test('what comes into an open list is seen even before the counts have heard of it', async () => {
  const markNotificationsSeen = vi.fn(done);
  const seen = LIST.map((one) => ({ ...one, isSeen: true }));
  const { client, list, counts } = await settle({
    notifications: () => seen,
    mutations: { markNotificationsSeen },
  });
  list.setAtTop(true);
  await list.markSeen();
  await client.emit({ __typename: 'NotificationAdded', notification: testNotification('c', at(3)) });
  await list.markSeen();
  const unseen = { count: 1, isExact: true };
  const unread = { count: 3, isExact: true };
  await client.emit({ __typename: 'NotificationCountsChanged', unseen, unread });
  expect(counts()).toEqual([0, 3]);
  expect(markNotificationsSeen.mock.calls).toEqual([[{ upTo: at(3) }]]);
});

test('what is shown and waits to be shown higher is counted once', async () => {
  const { client, list, counts } = await settle({ mutations: { markNotificationsSeen: done } });
  await list.markSeen();
  await client.emit({ __typename: 'NotificationUpdated', notification: testNotification('a', at(4)) });
  expect([counts()[0], list.getSnapshot().waiting]).toEqual([1, 1]);
});

test('one is read, and then all', async () => {
  const markNotificationsRead = vi.fn(done);
  const { list, counts } = await settle({ mutations: { markNotificationsRead } });
  await list.markRead(list.getSnapshot().items.slice(1));
  expect(list.getSnapshot().items.map(({ isRead }) => isRead)).toEqual([false, true]);
  expect(counts()).toEqual([2, 1]);
  await list.markAllRead();
  expect(counts()).toEqual([2, 0]);
  expect(markNotificationsRead.mock.calls).toEqual([[{ ids: ['a'] }], [{ upTo: at(2) }]]);
});

test('a mark that fails is undone, and one that is confirmed holds until the list is read again', async () => {
  let answer = LIST;
  const { client, list, counts } = await settle({
    notifications: () => answer,
    mutations: {
      markNotificationsSeen: done,
      markNotificationsRead: () => Promise.reject(new Error('Offline')),
    },
  });
  await expect(list.markAllRead()).rejects.toThrow('Offline');
  expect(counts()).toEqual([2, 2]);
  await list.markSeen();
  expect(counts()).toEqual([0, 2]);
  // On another device all was read, and something has come since.
  answer = [testNotification('c', at(3)), ...LIST.map((one) => ({ ...one, isSeen: true, isRead: true }))];
  list.setAtTop(true);
  await client.resync('marks');
  expect(counts()).toEqual([1, 1]);
});

test('the counts of a list with a filter come with its pages alone', async () => {
  const { client, reader } = await settle();
  const mentions = notificationsOf(reader, { filter: { kinds: ['MENTION'] } });
  onTestFinished(mentions.use(() => undefined));
  await vi.waitFor(() => expect(client.watching).toBe(2));
  const none = { count: 0, isExact: true };
  await client.emit({ __typename: 'NotificationCountsChanged', unseen: none, unread: none });
  expect(mentions.getSnapshot().unseen.count).toBe(2);
  expect(notificationsOf(reader, { filter: { kinds: ['MENTION'] } })).toBe(mentions);
});
