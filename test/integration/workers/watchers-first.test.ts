import { expect, test } from 'vitest';
import { MemoryLiveLog } from '../../support/memory-live-log.ts';
import type { FeedStore } from '../../../src/feed/feed-store.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { watching, type Watching } from '../../support/watching.ts';

const READERS = ['ann', 'bob', 'cid', 'dan', 'eve'];

async function site(parts: Parts): Promise<void> {
  await parts.services.followMany(
    parts.service,
    READERS.map((followerId) => ({ followerId, refId: 'actor' })),
  );
}

function watchAs(parts: Parts, userId: string): Promise<Watching> {
  return watching(parts.services, parts.session(userId).identity, { withUnread: false });
}

/** Notes to whom the store is asked to deliver, call by call. */
function noting(parts: Parts): {
  readonly feedStore: FeedStore;
  readonly calls: string[][];
} {
  const calls: string[][] = [];
  const deliver: FeedStore['deliver'] = (chunks) => {
    calls.push(...chunks.map(({ readers }) => readers.map(({ userId }) => userId)));
    return parts.feedStore.deliver(chunks);
  };
  return { feedStore: { ...parts.feedStore, deliver }, calls };
}

async function run(parts: Parts, feedStore: FeedStore, chunkSize: number): Promise<void> {
  await using worker = parts.worker({}, { feedStore, chunkSize });
  worker.start();
  await parts.idle();
}

/** What a watcher is sent before an action that comes last. */
async function notifiedBefore(parts: Parts, watch: Watching, userId: string): Promise<string[]> {
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: [userId] });
  await parts.fanOut();
  const notified: string[] = [];
  for (;;) {
    const event = await watch.next();
    if (event.kind === 'added' && event.item.actionId === action.id) return notified;
    notified.push('item' in event ? `${event.kind} ${event.item.actionId}` : event.kind);
  }
}

test('watchers get an action before everybody else, once, and count once', async () => {
  await using parts = await openParts();
  await site(parts);
  await using eve = await watchAs(parts, 'eve');
  await using stranger = await watchAs(parts, 'stranger');
  const { action } = await parts.publish({});
  const { feedStore, calls } = noting(parts);
  await run(parts, feedStore, 2);
  expect(calls[0]).toEqual(['eve']);
  expect(calls.slice(1).flat().sort()).toEqual(['ann', 'bob', 'cid', 'dan']);
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', delivered: READERS.length });
  for (const reader of READERS) expect(await parts.feedOf(reader)).toEqual([action.id]);
  expect(await notifiedBefore(parts, eve, 'eve')).toEqual([`added ${action.id}`]);
  expect(await notifiedBefore(parts, stranger, 'stranger')).toEqual([]);
});

test('an audience that fits into one chunk is not searched for watchers', async () => {
  await using parts = await openParts();
  await site(parts);
  await using eve = await watchAs(parts, 'eve');
  const { action } = await parts.publish({});
  const { feedStore, calls } = noting(parts);
  await run(parts, feedStore, READERS.length);
  expect(calls).toEqual([READERS]);
  expect(await notifiedBefore(parts, eve, 'eve')).toEqual([`added ${action.id}`]);
});

test('in a large audience of one chunk watchers are served first, some at a time', async () => {
  await using parts = await openParts();
  const readers = Array.from({ length: 270 }, (_, index) => `reader-${String(index).padStart(3, '0')}`);
  await parts.services.followMany(
    parts.service,
    readers.map((followerId) => ({ followerId, refId: 'actor' })),
  );
  await using last = await watchAs(parts, 'reader-269');
  const watched = readers.slice(10);
  // As if a watcher had just left.
  for (const userId of watched) await parts.live.liveLog.position(userId);
  const { action } = await parts.publish({});
  const { feedStore, calls } = noting(parts);
  await run(parts, feedStore, 1_000);
  // The two chunks of watchers are under way at the same time: either may be written first.
  const ofWatchers = calls.slice(0, 2).sort((one, other) => other.length - one.length);
  expect(ofWatchers.map(({ length }) => length)).toEqual([250, 10]);
  expect(ofWatchers.flat()).toEqual(watched);
  expect(calls.slice(2)).toEqual([readers.slice(0, 10)]);
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', delivered: readers.length });
  expect(await notifiedBefore(parts, last, 'reader-269')).toEqual([`added ${action.id}`]);
});

test('while another pass is running watchers are served in larger writes', async () => {
  await using parts = await openParts();
  const readers = Array.from({ length: 270 }, (_, index) => `reader-${String(index).padStart(3, '0')}`);
  await parts.services.followMany(
    parts.service,
    readers.map((followerId) => ({ followerId, refId: 'actor' })),
  );
  const watched = readers.slice(10);
  for (const userId of watched) await parts.live.liveLog.position(userId);
  const { action: other } = await parts.publish({ scope: 'RESTRICTED', recipients: ['ann'] });
  const calls: number[] = [];
  let begun: () => void = () => undefined;
  let end: () => void = () => undefined;
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const mayEnd = new Promise<void>((resolve) => (end = resolve));
  const deliver: FeedStore['deliver'] = async (chunks) => {
    for (const { actionId, readers } of chunks)
      if (actionId === other.id) {
        begun();
        await mayEnd;
      } else calls.push(readers.length);
    return parts.feedStore.deliver(chunks);
  };
  await using worker = parts.worker({}, { feedStore: { ...parts.feedStore, deliver }, chunkSize: 1_000 });
  worker.start();
  await hasBegun;
  await parts.publish({});
  await expect.poll(() => calls.length, { timeout: PATIENCE_MS }).toBe(2);
  end();
  expect(calls).toEqual([watched.length, readers.length - watched.length]);
  await parts.idle();
});

test('a bump is delivered to watchers first, too, where one write cannot raise it for all', async () => {
  await using parts = await openParts({ model: 'capped' });
  await site(parts);
  const { action } = await parts.publish({});
  await parts.fanOut();
  await using eve = await watchAs(parts, 'eve');
  await parts.services.addInteraction(parts.session('service', 'service'), {
    actionId: action.id,
    kind: 'COMMENT',
    actorId: 'bob',
  });
  const { feedStore, calls } = noting(parts);
  await run(parts, feedStore, 2);
  expect(calls[0]).toEqual(['eve']);
  expect(calls.slice(1).flat().sort()).toEqual(['ann', 'bob', 'cid', 'dan']);
  expect(await notifiedBefore(parts, eve, 'eve')).toEqual([`updated ${action.id}`]);
});

test.each(['TEAM', 'DEPARTMENT'] as const)('watchers are found in a %s by the rules', async (scope) => {
  await using parts = await openParts();
  const group = { teamId: 'team', departmentId: 'department' };
  await parts.services.upsertMembers(
    parts.service,
    ['actor', ...READERS].map((memberId) => ({ memberId, name: memberId, ...group })),
  );
  await parts.services.upsertMembers(parts.service, [{ memberId: 'other', name: 'other' }]);
  await using _eve = await watchAs(parts, 'eve');
  await using _other = await watchAs(parts, 'other');
  await parts.publish({ actorId: 'actor', scope });
  const { feedStore, calls } = noting(parts);
  await run(parts, feedStore, 2);
  expect(calls[0]).toEqual(['eve']);
  expect(calls.slice(1).flat().sort()).toEqual(['actor', 'ann', 'bob', 'cid', 'dan']);
});

test('watchers are not looked up if the audience fits into a chunk', async () => {
  await using parts = await openParts();
  await site(parts);
  await using eve = await watchAs(parts, 'eve');
  const { action } = await parts.publish({});
  const { feedStore, calls } = noting(parts);
  await run(parts, feedStore, 6);
  expect(calls.map((readers) => [...readers].sort())).toEqual([READERS]);
  expect(await notifiedBefore(parts, eve, 'eve')).toEqual([`added ${action.id}`]);
});

test('a live log that does not respond delays nothing', async () => {
  await using parts = await openParts();
  await site(parts);
  const { action } = await parts.publish({});
  const errors: unknown[] = [];
  const refusal = new Error('No live log');
  await using worker = parts.worker(
    {},
    {
      chunkSize: 2,
      liveLog: Object.assign(new MemoryLiveLog(), {
        watched: () => Promise.reject(refusal),
        append: () => Promise.reject(refusal),
        forget: () => Promise.reject(refusal),
        async *allWatched() {
          await Promise.resolve();
          throw refusal;
        },
      }),
      onLiveLogError: (error) => {
        errors.push(error);
      },
    },
  );
  worker.start();
  await parts.idle();
  expect(errors.length).toBeGreaterThan(0);
  expect(new Set(errors)).toEqual(new Set([refusal]));
  for (const reader of READERS) expect(await parts.feedOf(reader)).toEqual([action.id]);
});

test('a pass that was stopped after serving watchers continues without notifying them again', async () => {
  await using parts = await openParts();
  await site(parts);
  await using eve = await watchAs(parts, 'eve');
  const { action } = await parts.publish({});
  const { feedStore, calls } = noting(parts);
  let stopped: Promise<void> | null = null;
  const worker = parts.worker(
    {},
    {
      chunkSize: 1,
      feedStore: {
        ...feedStore,
        deliver: (chunk) => {
          // As at a shutdown in the middle of the pass.
          stopped ??= worker.stop();
          return feedStore.deliver(chunk);
        },
      },
    },
  );
  worker.start();
  await expect.poll(() => stopped).not.toBeNull();
  await (stopped as Promise<void> | null);
  expect(calls[0]).toEqual(['eve']);
  expect(calls.flat()).not.toContain('dan');
  const [handedBack] = await parts.repositories.actions.findByIds([action.id]);
  expect(handedBack?.fanOut).toMatchObject({ state: 'PENDING' });
  await parts.fanOut();
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done?.fanOut).toMatchObject({ state: 'DONE', delivered: READERS.length });
  for (const reader of READERS) expect(await parts.feedOf(reader)).toEqual([action.id]);
  expect(await notifiedBefore(parts, eve, 'eve')).toEqual([`added ${action.id}`]);
});

test('who begins to watch while a comment without a pass raises feeds is notified of it', async () => {
  await using parts = await openParts();
  await site(parts);
  const { action } = await parts.publish({ actorId: 'actor', scope: 'PUBLIC', conducted: new Date(0) });
  await parts.fanOut();
  await parts.database.collections.actions.updateOne({}, { $set: { 'fanOut.doneAt': new Date(0) } });
  const begun: Watching[] = [];
  const raise: FeedStore['raise'] = async (...place) => {
    begun.push(await watchAs(parts, 'ann'));
    await parts.feedStore.raise?.(...place);
  };
  const core = { ...parts.core, feedStore: { ...parts.feedStore, raise } };
  await addInteraction(core, parts.session('bob'), {
    actionId: action.id,
    kind: 'COMMENT',
    text: 'Well said',
  });
  await parts.fanOut();
  const [first, ...others] = begun;
  if (first === undefined || others.length > 0) throw new Error('Feeds are not raised once');
  await using watch = first;
  expect(await notifiedBefore(parts, watch, 'ann')).toContain(`updated ${action.id}`);
});
