import { expect, onTestFinished, test, vi } from 'vitest';
import { itemsModel } from '../../../src/feed/models/items.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { Core } from '../../../src/core/core.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import { publishAction } from '../../../src/features/publish/publish-action.ts';
import { OwnWorker } from '../../../src/fan-out/own-worker.ts';
import { clock } from '../../../src/lib/clock.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { crashingDatabase } from '../../support/crashing.ts';
import { openParts, silentObserver, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';
import { eventually } from '../../conformance/live-log-tools.ts';

/** No test waits for so long. */
const NEVER_MS = 600_000;
const READERS = ['ann', 'bob', 'cid'];

async function stateOf({ repositories }: Parts, id: string): Promise<string | undefined> {
  return (await repositories.actions.findByIds([id]))[0]?.fanOut.state;
}

/** The worker of the process that publishes, which counts its searches, and waits before each write to feeds if asked to. */
async function ownWorker(parts: Parts, beforeDelivery: () => Promise<void> = () => Promise.resolve()) {
  const { fanOuts, ownWorker: own } = parts.core;
  const { feedStore } = parts;
  const seen = { searches: 0, isIdle: false };
  const worker = parts.worker(
    { pollMs: NEVER_MS, concurrency: 16 },
    {
      ownWorker: own,
      fanOuts: {
        ...fanOuts,
        claim(...args) {
          seen.searches += 1;
          return fanOuts.claim(...args);
        },
        async nextDue(now) {
          const due = await fanOuts.nextDue(now);
          seen.isIdle = true;
          return due;
        },
      },
      feedStore: {
        ...feedStore,
        deliver: async (chunks) => {
          await beforeDelivery();
          return feedStore.deliver(chunks);
        },
      },
    },
  );
  worker.start();
  await eventually('it has looked for the first time', () => seen.isIdle);
  seen.searches = 0;
  return { worker, seen };
}

test('a process with a worker delivers what it publishes without a search, and boosts what is commented on', async () => {
  await using parts = await openParts();
  const { worker, seen } = await ownWorker(parts);
  await using _worker = worker;
  const { action } = await parts.publish({ mentions: ['bob'], conducted: new Date(Date.now() - 86_400_000) });
  await parts.idle();
  expect(await parts.feedOf('bob')).toEqual([action.id]);
  const { entries: before } = await parts.feedStore.page({ userId: 'bob', limit: 1 });
  // An interaction within a quarter of a second after a pass waits that long.
  await parts.database.collections.actions.updateOne({}, { $set: { 'fanOut.doneAt': new Date(0) } });
  await parts.services.addInteraction(parts.session('cid', 'admin'), {
    ...{ actionId: action.id, kind: 'COMMENT', text: 'Well said' },
  });
  await parts.idle();
  const { entries: after } = await parts.feedStore.page({ userId: 'bob', limit: 1 });
  expect(after[0]?.relevancy.getTime()).toBeGreaterThan(before[0]?.relevancy.getTime() ?? Infinity);
  expect(seen.searches).toBe(0);
});

test('what is commented on again within a moment has its pass when it is due, after one search', async () => {
  await using parts = await openParts();
  const { worker, seen } = await ownWorker(parts);
  await using _worker = worker;
  const { action } = await parts.publish({ mentions: ['bob'] });
  await parts.idle();
  // However long it takes to record them, they are of one moment, and the worker hears of them after it.
  const moment = vi.spyOn(clock, 'time').mockReturnValue(clock.time());
  onTestFinished(() => moment.mockRestore());
  const { ownWorker: own } = parts.core;
  const expected = vi.spyOn(own, 'expect').mockReturnValue(true);
  await parts.database.collections.actions.updateOne({}, { $set: { 'fanOut.doneAt': clock.now() } });
  for (const text of ['Well said', 'Indeed', 'And more'])
    await parts.services.addInteraction(parts.session('cid', 'admin'), {
      ...{ actionId: action.id, kind: 'COMMENT', text },
    });
  expect(await stateOf(parts, action.id)).toBe('PENDING');
  const dues = expected.mock.calls.map(([due]) => due);
  expect(dues).toHaveLength(3);
  for (const spy of [expected, moment]) spy.mockRestore();
  for (const due of dues) own.expect(due);
  await parts.idle();
  const [done] = await parts.repositories.actions.findByIds([action.id]);
  expect(done).toMatchObject({ engagement: { comments: 3 }, fanOut: { state: 'DONE', version: 4 } });
  expect(seen.searches).toBe(1);
});

test('leaves to the workers what is bulk, and what is beyond its room', async () => {
  await using parts = await openParts();
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const { worker } = await ownWorker(parts, () => held);
  await using _worker = worker;
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push((await parts.publish({ mentions: ['bob'] })).action.id);
  expect(await Promise.all(ids.map((id) => stateOf(parts, id)))).toEqual([
    ...['IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS', 'PENDING'],
  ]);
  letGo();
  await parts.idle();
  expect((await parts.feedOf('bob')).sort()).toEqual([...ids].sort());
  const bulk = { mentions: ['bob'], descriptor: { custom: { verb: 'a', objectType: 'b', objectId: 'c' } } };
  const [imported] = await parts.services.publishActions(parts.service, [bulk], { isBulk: true });
  expect(imported?.action?.fanOut).toMatchObject({ state: 'PENDING', attempts: 0 });
});

test('an action that is hidden while it is delivered at once is in no feed', async () => {
  await using parts = await openParts();
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const { worker } = await ownWorker(parts, () => held);
  await using _worker = worker;
  const { action } = await parts.publish({ mentions: ['bob'] });
  await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
  letGo();
  await parts.idle();
  expect(await parts.feedOf('bob')).toEqual([]);
  expect(await parts.feedStore.holders(action.id, { limit: 1 })).toEqual([]);
});

test('a worker that stops hands back what the process is about to publish', async () => {
  await using parts = await openParts();
  const { worker } = await ownWorker(parts);
  const { publishing } = parts.core;
  let stopped: Promise<void> | undefined;
  const insert: typeof publishing.insert = (...args) => {
    stopped = worker.stop();
    return publishing.insert(...args);
  };
  const core: Core = { ...parts.core, publishing: { ...publishing, insert } };
  const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId: 'post-1' } };
  const { action } = await publishAction(core, parts.service, { mentions: ['bob'], descriptor });
  expect(action.fanOut.state).toBe('IN_PROGRESS');
  await stopped;
  const [left] = await parts.repositories.actions.findByIds([action.id]);
  expect(left?.fanOut).toMatchObject({ state: 'PENDING', attempts: 0 });
  await parts.fanOut();
  expect(await parts.feedOf('bob')).toEqual([action.id]);
});

/** A process that publishes and delivers, and dies after so many writes. Resolves when it is dead. */
async function dyingProcess(parts: Parts, writes: number, work: (core: Core) => Promise<unknown>) {
  const crashing = crashingDatabase(parts.database, writes);
  const core: Core = {
    ...parts.core,
    ...createRepositories(crashing.collections, { recordsEvents: true }),
    feedStore: itemsModel.open({ db: crashing.db, cap: 1_000, redis: [] }),
    ownWorker: new OwnWorker(),
  };
  let isDead: () => void = () => undefined;
  const death = new Promise<void>((resolve) => (isDead = resolve));
  const observer = { ...silentObserver, failed: isDead, claimFailed: isDead };
  await using worker = parts.worker({ leaseMs: 1, observer }, core);
  worker.start();
  await work(core).catch(isDead);
  await death;
}

test.each([1, 2, 3, 4, 5])(
  'what a process publishes that dies after write %i is delivered once, and its watchers are notified',
  async (writes) => {
    await using parts = await openParts({ recordsEvents: true });
    await parts.services.followMany(
      parts.service,
      READERS.map((followerId) => ({ followerId, refId: 'actor' })),
    );
    await using bob = await watching(parts.services, parts.session('bob').identity, { withUnread: false });
    const input = {
      ...{ actorId: 'actor', idempotencyKey: 'once' },
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: '1' } },
    };
    await dyingProcess(parts, writes, (core) => publishAction(core, parts.service, input));
    // Who got no answer asks again.
    const { action } = await parts.services.publishAction(parts.service, input);
    await parts.fanOut();
    // Added, or updated if it may have been notified of it already.
    expect(await bob.next()).toMatchObject({ item: { actionId: action.id } });
    for (const userId of READERS) expect(await parts.feedOf(userId)).toEqual([action.id]);
    expect(await parts.database.collections.actions.countDocuments()).toBe(1);
    expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual(READERS);
  },
);

test.each([1, 2, 3, 4, 5])(
  'a comment that a process records that dies after write %i is counted once, and lifts its action for all',
  async (writes) => {
    await using parts = await openParts({ recordsEvents: true });
    const { action } = await parts.publish({
      ...{ recipients: READERS, scope: 'RESTRICTED', conducted: new Date(Date.now() - 86_400_000) },
    });
    await parts.fanOut();
    await parts.database.collections.actions.updateOne({}, { $set: { 'fanOut.doneAt': new Date(0) } });
    await using bob = await watching(parts.services, parts.session('bob').identity, { withUnread: false });
    const input = { actionId: action.id, kind: 'COMMENT', text: 'Well said', idempotencyKey: 'once' };
    await dyingProcess(parts, writes, (core) =>
      addInteraction(core, openSession(core, parts.session('cid').identity), input),
    );
    await parts.services.addInteraction(parts.session('cid'), input);
    await parts.fanOut();
    expect(await bob.next()).toMatchObject({
      ...{ kind: 'updated', item: { actionId: action.id, action: { engagement: { comments: 1 } } } },
    });
    for (const userId of READERS) {
      const { entries } = await parts.feedStore.page({ userId, limit: 1 });
      expect(entries[0]?.relevancy.getTime()).toBeGreaterThan(action.latest.getTime());
    }
  },
);
