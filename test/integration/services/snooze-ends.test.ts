import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import type { FeedEvent } from '../../../src/core/shapes.ts';
import { openLiveList, type LiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { endSnoozeAt, SNOOZE_LEASE_MS, snoozeWorker } from '../../support/snoozes.ts';

const HOUR = 3_600_000;
const SNOOZED = { filter: { snoozed: true } };
const ann = (parts: Parts) => parts.session('ann');
const later = (ms = HOUR): Date => new Date(clock.time() + ms);

async function published(parts: Parts, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++)
    ids.push((await parts.publish({ scope: 'PUBLIC', mentions: ['ann'] })).action.id);
  await parts.fanOut();
  return ids;
}

/** Without the marks by which the list knows that it has caught up. */
function eventsOf({ events }: LiveList): readonly FeedEvent[] {
  return events.filter((event) => event.kind !== 'removed' || !event.actionId.startsWith('0000'));
}

const kindsOf = (list: LiveList): string[] => eventsOf(list).map(({ kind }) => kind);

async function listed(parts: Parts, args: object): Promise<Set<string>> {
  const { edges } = await parts.services.readFeed(ann(parts), { first: 100, ...args });
  return new Set(edges.map(({ node }) => node.actionId));
}

test('watchers of the feed and of snoozed items have what is listed there', async () => {
  await using parts = await openParts();
  const [a = '', b = ''] = await published(parts, 2);
  const { identity } = ann(parts);
  const unreadOnly = { filter: { unreadOnly: true } };
  await using feed = await openLiveList(parts, identity);
  await using snoozed = await openLiveList(parts, identity, SNOOZED);
  await using unread = await openLiveList(parts, identity, unreadOnly);
  const agree = async (): Promise<void> => {
    for (const [list, args] of [
      [feed, {}],
      [snoozed, SNOOZED],
      [unread, unreadOnly],
    ] as const) {
      await list.caughtUp();
      expect(new Set(list.shown.keys())).toEqual(await listed(parts, args));
    }
  };
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await parts.services.snoozeFeedItem(ann(parts), b, later());
  await agree();
  expect(kindsOf(feed)).toEqual(['removed', 'removed']);
  await parts.services.addInteraction(parts.session('bob'), { actionId: a, kind: 'COMMENT' });
  await parts.fanOut();
  await agree();
  expect(feed.shown.size).toBe(0);
  await parts.services.unsnoozeFeedItem(ann(parts), b);
  await agree();
  const readUntil = clock.now();
  await parts.services.markFeedRead(ann(parts), readUntil);
  const until = new Date(readUntil.getTime() + 1);
  await endSnoozeAt(parts, 'ann', a, until);
  await snoozeWorker(parts).round(clock.now());
  await agree();
  expect(feed.shown.get(a)).toMatchObject({ relevancy: until, reasons: ['MENTION'] });
  expect(eventsOf(feed).at(-1)).toMatchObject({ kind: 'added', item: { isUnread: true } });
  // Of the mark of the whole feed alone.
  expect([...feed.resyncs, ...snoozed.resyncs]).toEqual(['marks', 'marks']);
});

test('a running worker notifies watchers in time', async () => {
  await using parts = await openParts();
  const [a = ''] = await published(parts, 1);
  await using list = await openLiveList(parts, ann(parts).identity);
  await parts.services.snoozeFeedItem(ann(parts), a, later(300));
  await using worker = snoozeWorker(parts, 10);
  worker.start();
  while (kindsOf(list).at(-1) !== 'added') await setTimeout(10);
  expect(kindsOf(list)).toEqual(['removed', 'added']);
});

test('each end is announced once, by any number of workers, and none that was undone or postponed', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 4);
  const [a = '', b = '', c = '', d = ''] = ids;
  for (const id of ids) await parts.services.snoozeFeedItem(ann(parts), id, later());
  await using list = await openLiveList(parts, ann(parts).identity);
  await parts.services.unsnoozeFeedItem(ann(parts), b);
  await parts.services.archiveFeedItem(ann(parts), c);
  await parts.services.snoozeFeedItem(ann(parts), d, later(2 * HOUR));
  await list.caughtUp();
  const before = eventsOf(list).length;
  const workers = [snoozeWorker(parts), snoozeWorker(parts)];
  await Promise.all(workers.map((worker) => worker.round(clock.now())));
  await endSnoozeAt(parts, 'ann', a, clock.now());
  await Promise.all(workers.map((worker) => worker.round(clock.now())));
  await Promise.all(workers.map((worker) => worker.round(clock.now())));
  await list.caughtUp();
  expect(eventsOf(list).slice(before)).toMatchObject([{ kind: 'added', item: { actionId: a } }]);
  expect(await parts.database.collections.itemMarks.countDocuments({ lifting: { $exists: true } })).toBe(1);
});

test('an end that a process had claimed before it died is announced by another one', async () => {
  await using parts = await openParts();
  const [a = ''] = await published(parts, 1);
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await using list = await openLiveList(parts, ann(parts).identity);
  await endSnoozeAt(parts, 'ann', a, clock.now());
  const { markEnds } = parts.repositories;
  expect(
    await markEnds.claimEnded({ token: 'died', now: clock.now(), leaseMs: SNOOZE_LEASE_MS }, 10),
  ).toHaveLength(1);
  await using other = await parts.reopen();
  const worker = snoozeWorker({ core: { ...other.core, liveLog: parts.live.liveLog } });
  await worker.round(clock.now());
  await list.caughtUp();
  expect(kindsOf(list)).toEqual([]);
  await worker.round(later(SNOOZE_LEASE_MS));
  await worker.round(later(SNOOZE_LEASE_MS));
  await list.caughtUp();
  expect(kindsOf(list)).toEqual(['added']);
});

test('an item that is snoozed again while its end is announced stays due', async () => {
  await using parts = await openParts();
  const [a = ''] = await published(parts, 1);
  await parts.services.snoozeFeedItem(ann(parts), a, later());
  await endSnoozeAt(parts, 'ann', a, clock.now());
  const { markEnds } = parts.repositories;
  const claimed = await markEnds.claimEnded(
    { token: 'first', now: clock.now(), leaseMs: SNOOZE_LEASE_MS },
    10,
  );
  const until = later();
  await parts.services.snoozeFeedItem(ann(parts), a, until);
  await markEnds.finishEnded('first', claimed);
  expect(await parts.services.getNewsfeedItem(ann(parts), a)).toMatchObject({ state: 'SNOOZED', until });
  expect(
    await markEnds.claimEnded({ token: 'second', now: later(2 * HOUR), leaseMs: SNOOZE_LEASE_MS }, 10),
  ).toHaveLength(1);
});

test('a recorded end is valid also if a clock is behind', async () => {
  await using parts = await openParts();
  const [a = '', b = ''] = await published(parts, 2);
  const until = later(30_000);
  await parts.services.snoozeFeedItem(ann(parts), a, until);
  await using list = await openLiveList(parts, ann(parts).identity);
  await snoozeWorker(parts).round(until);
  await list.caughtUp();
  expect(list.shown.get(a)?.relevancy).toEqual(until);
  const { edges } = await parts.services.readFeed(ann(parts), {});
  expect(edges.map(({ node }) => node.actionId)).toEqual([a, b]);
  expect(await listed(parts, SNOOZED)).toEqual(new Set());
});

test('watchers are not notified of items that are withheld by then', async () => {
  await using parts = await openParts();
  const [a = '', b = ''] = await published(parts, 2);
  for (const id of [a, b]) await parts.services.snoozeFeedItem(ann(parts), id, later());
  await using list = await openLiveList(parts, ann(parts).identity);
  await parts.services.hideAction(parts.session('root', 'admin'), a, null);
  await parts.services.addMute(ann(parts), { memberId: 'actor' });
  for (const id of [a, b]) await endSnoozeAt(parts, 'ann', id, clock.now());
  await snoozeWorker(parts).round(clock.now());
  await list.caughtUp();
  expect(kindsOf(list)).not.toContain('added');
  expect(list.shown.size).toBe(0);
});
