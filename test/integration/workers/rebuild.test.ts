import { expect, test } from 'vitest';
import type { Context } from '../../../src/feed/context.ts';
import { feedMembershipsOf, readFromSource, sharedReads, sourceKeys } from '../../../src/feed/source.ts';
import { OnDispose } from '../../../src/lib/closer.ts';
import { openLiveList, wholeList } from '../../support/live-list.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { claimOne } from '../../support/claim-one.ts';

const DAY = 86_400_000;
const ref = (id: string) => ({ id, type: 'site', label: id });

async function stored(parts: Parts, userId: string): Promise<[string, number, string][]> {
  const { entries } = await parts.feedStore.page({ userId, limit: 1_000 });
  return entries.map((entry) => [
    entry.actionId,
    entry.relevancy.getTime(),
    [...entry.reasons].sort().join(),
  ]);
}

async function lively(parts: Parts): Promise<void> {
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'actor', name: 'Actor', teamId: 't', departmentId: 'd' },
    { memberId: 'ann', name: 'Ann', teamId: 't', departmentId: 'd' },
    { memberId: 'boss', name: 'Boss', departmentId: 'x' },
  ]);
  await parts.services.followMany(parts.service, [
    { followerId: 'ann', refId: 'site' },
    { followerId: 'ann', refId: 'other' },
  ]);
  for (let n = 0; n < 12; n++) {
    const conducted = new Date(Date.now() - (20 - n) * DAY);
    const { action } = await parts.publish({
      conducted,
      ...[
        { refs: [ref('site')] },
        { refs: [ref('other')], mentions: ['ann'] },
        { scope: 'TEAM' },
        { scope: 'DEPARTMENT' },
      ][n % 4],
    });
    if (n % 3 === 0)
      await parts.services.addInteraction(parts.session(n % 2 === 0 ? 'boss' : 'actor', 'admin'), {
        actionId: action.id,
        kind: 'COMMENT',
        at: new Date(conducted.getTime() + 5 * DAY),
      });
  }
  await parts.fanOut();
}

test('restores exactly the feed that was there, after it is lost completely', async () => {
  await using parts = await openParts();
  await lively(parts);
  const before = await stored(parts, 'ann');
  expect(before.length).toBe(12);
  await parts.feedStore.drop('ann');
  const state = (): Promise<string> => parts.services.readFeedState(parts.admin, 'ann');
  expect(await state()).toBe('READY');
  expect(await parts.services.rebuildFeed(parts.admin, 'ann')).toBe('REBUILDING');
  expect(await state()).toBe('REBUILDING');
  expect((await parts.services.readFeed(parts.session('ann'), {})).state).toBe('REBUILDING');
  await parts.fanOut();
  expect(await stored(parts, 'ann')).toEqual(before);
  expect((await parts.services.readFeed(parts.session('ann'), {})).state).toBe('READY');
  expect(await state()).toBe('READY');
});

test.each([1_000, 2])(
  'reads for several feeds, feedRebuilds what each would read alone, up to %d at once',
  async (most) => {
    await using parts = await openParts();
    await lively(parts);
    const memberships = await feedMembershipsOf(parts.core, ['ann', 'boss', 'actor']);
    const read = (context: Context) =>
      Promise.all(
        memberships.map((membership) =>
          readFromSource(
            context,
            {
              reader: membership.reader,
              keys: sourceKeys(membership),
              followsOf: () => Promise.resolve(membership.follows),
            },
            { limit: 100 },
          ),
        ),
      );
    const alone = await read(parts.core);
    expect(alone.map((entries) => entries.length)).toEqual([12, 0, 6]);
    expect(await read(sharedReads(parts.core, memberships, most))).toEqual(alone);
  },
);

test('is NOT_FOUND for an unknown member, and works for one whom only an action names', async () => {
  await using parts = await openParts();
  await parts.publish({ scope: 'PUBLIC', mentions: ['ann'] });
  expect(await parts.services.rebuildFeed(parts.admin, 'ann')).toBe('REBUILDING');
  for (const what of ['rebuildFeed', 'readFeedState'] as const)
    await expect(parts.services[what](parts.admin, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await parts.repositories.feedRebuilds.countDue()).toBe(1);
});

test('removes items that do not belong and lowers those that are too high', async () => {
  await using parts = await openParts();
  await lively(parts);
  const before = await stored(parts, 'ann');
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'] });
  await parts.feedStore.fill('ann', [
    { actionId: action.id, relevancy: new Date(), reasons: ['RECIPIENT'] },
    { actionId: before[5]?.[0] ?? '', relevancy: new Date(), reasons: ['PULL'] },
  ]);
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  expect(await stored(parts, 'ann')).toEqual(before);
});

test("follows a change of department and supervisor: boosts use the reader's current ones", async () => {
  await using parts = await openParts();
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'ann', name: 'Ann', departmentId: 'd', supervisorId: 'boss' },
    { memberId: 'boss', name: 'Boss', departmentId: 'x' },
    { memberId: 'peer', name: 'Peer', departmentId: 'd' },
  ]);
  await parts.services.follow(parts.session('ann'), 'actor', 0);
  const conducted = new Date(Date.now() - 100 * DAY);
  const { action } = await parts.publish({ conducted });
  const record = (actorId: string, days: number) =>
    parts.services.addInteraction(parts.session(actorId, 'admin'), {
      actionId: action.id,
      kind: 'COMMENT',
      at: new Date(conducted.getTime() + days * DAY),
    });
  await record('peer', 40);
  await record('boss', 50);
  await parts.fanOut();
  const days = async (): Promise<number> => {
    const [entry] = await parts.feedStore.find('ann', [action.id]);
    return ((entry?.relevancy.getTime() ?? 0) - conducted.getTime()) / DAY;
  };
  expect(await days()).toBe(50);
  await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann', departmentId: 'd' }]);
  await parts.fanOut();
  expect(await days()).toBe(40);
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'ann', name: 'Ann', departmentId: 'elsewhere' },
  ]);
  await parts.fanOut();
  expect(await days()).toBe(5);
  await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann', departmentId: 'd' }]);
  await parts.fanOut();
  expect(await days()).toBe(40);
});

test('does not rebuild for new members without a feed, nor for members whose groups stay the same', async () => {
  await using parts = await openParts();
  await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann', teamId: 't' }]);
  await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Anna', teamId: 't' }]);
  expect(await parts.repositories.feedRebuilds.countDue()).toBe(0);
  await parts.publish({ mentions: ['bob'] });
  await parts.services.follow(parts.session('cid'), 'site', 0);
  await parts.services.upsertMembers(
    parts.service,
    ['bob', 'cid', 'dan'].map((memberId) => ({ memberId, name: memberId, teamId: 't' })),
  );
  expect(await parts.repositories.feedRebuilds.countDue()).toBe(2);
});

test('rebuilds once more when the feed becomes due again meanwhile', async () => {
  await using parts = await openParts();
  const { feedRebuilds } = parts.repositories;
  await feedRebuilds.markDue(['ann'], new Date());
  const [claim] = await feedRebuilds.claimDue(new Date(), 30_000);
  expect(await feedRebuilds.claimDue(new Date(), 30_000)).toEqual([]);
  await feedRebuilds.markDue(['ann'], new Date());
  if (claim !== undefined)
    await feedRebuilds.finishRebuild(claim, { floor: null, now: new Date(), trimAt: new Date() });
  expect(await feedRebuilds.countDue()).toBe(1);
  await parts.fanOut();
  expect(await feedRebuilds.countDue()).toBe(0);
});

/** Something that is waited for. */
function signal(): { readonly done: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const done = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { done, resolve };
}

test('does not treat a rebuild that outlasts its lease as interrupted, nor if the feed becomes due meanwhile', async () => {
  await using parts = await openParts();
  const { feedStore } = parts;
  const { feedRebuilds } = parts.repositories;
  await parts.publish({ mentions: ['ann'] });
  await parts.fanOut();
  await using list = await openLiveList(parts, parts.session('ann').identity);
  const [begun, gate] = [signal(), signal()];
  await using rebuilds = parts.rebuildWorker(
    {
      feedStore: {
        ...feedStore,
        page: async (query) => {
          begun.resolve();
          await gate.done;
          return feedStore.page(query);
        },
      },
    },
    { fanOut: { leaseMs: 6_000 } },
  );
  using _opening = new OnDispose(gate.resolve);
  await feedRebuilds.markDue(['ann'], new Date());
  rebuilds.start();
  await begun.done;
  await feedRebuilds.markDue(['ann'], new Date());
  const lease = async () => (await parts.database.collections.feeds.findOne({ _id: 'ann' }))?.rebuild?.due;
  const first = await lease();
  await expect.poll(lease).not.toEqual(first);
  expect(await feedRebuilds.claimDue(new Date(), 30_000)).toEqual([]);
  gate.resolve();
  await parts.fanOut();
  await list.caughtUp();
  expect(list.resyncs).toEqual([]);
});

test('makes a watcher query the feed though the rebuild after an interrupted one is postponed', async () => {
  await using parts = await openParts();
  const { feedRebuilds, fanOuts } = parts.repositories;
  await using list = await openLiveList(parts, parts.session('ann').identity);
  await feedRebuilds.markDue(['ann'], new Date());
  expect(await feedRebuilds.claimDue(new Date(), 0)).toMatchObject([{ wasCutOff: false }]);
  await parts.publish({ mentions: ['bob'] });
  const pass = await claimOne(fanOuts, 'pass', new Date(), 600_000);
  const isPutOff = signal();
  await using rebuilds = parts.rebuildWorker({
    feedRebuilds: {
      ...feedRebuilds,
      postponeRebuild: async (...args) => {
        const isOurs = await feedRebuilds.postponeRebuild(...args);
        isPutOff.resolve();
        return isOurs;
      },
    },
  });
  rebuilds.start();
  await isPutOff.done;
  if (pass !== null) await fanOuts.finish([{ claim: pass, delivered: 0 }]);
  await parts.idle();
  await list.caughtUp();
  expect(list.resyncs).toEqual(['log-interrupted']);
});

/** What a client shows: an item with its place. */
const placesIn = (
  items: Iterable<{ readonly actionId: string; readonly relevancy: Date }>,
): [string, Date][] =>
  [...items].map(({ actionId, relevancy }): [string, Date] => [actionId, relevancy]).sort();

/** A reader with as many actions, lifted by their supervisor, and one that does not belong there; the feed is vouched for. */
async function withLifted(parts: Parts, count: number): Promise<void> {
  const { services, service } = parts;
  await services.upsertMembers(service, [
    { memberId: 'ann', name: 'Ann', supervisorId: 'boss' },
    { memberId: 'boss', name: 'Boss' },
  ]);
  await services.follow(parts.session('ann'), 'actor', 0);
  for (let n = 0; n < count; n++) {
    const conducted = new Date(Date.now() - (100 - n) * DAY);
    const { action } = await parts.publish({ conducted });
    await services.addInteraction(parts.session('boss', 'admin'), {
      actionId: action.id,
      kind: 'COMMENT',
      at: new Date(conducted.getTime() + 50 * DAY),
    });
  }
  await parts.fanOut();
  const { action } = await parts.publish({ actorId: 'stranger' });
  await services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  await parts.feedStore.fill('ann', [{ actionId: action.id, relevancy: new Date(), reasons: ['FOLLOW'] }]);
}

const withoutSupervisor = { memberId: 'ann', name: 'Ann' };

test.each([
  ['has lost', 'redis', 1_000],
  ['has let go of', 'capped', 6],
])(
  'makes a watcher query the feed if the store %s what the watcher was shown: %s',
  async (what, model, cap) => {
    await using parts = await openParts({ model, cap });
    const { services, service, feedStore } = parts;
    await withLifted(parts, 6);
    await using list = await openLiveList(parts, parts.session('ann').identity);
    await services.upsertMembers(service, [withoutSupervisor]);
    await list.caughtUp();
    // Read again from what is stored, in which everything stands as high as before.
    const lifted = placesIn(list.shown.values());
    if (what === 'has lost') await feedStore.drop('ann');
    else {
      for (let n = 0; n < 6; n++) await parts.publish({});
      await using fanOuts = parts.worker();
      fanOuts.start();
      await expect.poll(() => parts.repositories.actions.openFanOuts()).toEqual({});
    }
    await parts.fanOut();
    await list.caughtUp();
    const now = await wholeList(services, parts.session('ann'), { pageSize: 100 });
    expect(placesIn(list.shown.values())).toEqual(placesIn(now));
    expect(placesIn(now)).not.toEqual(expect.arrayContaining(lifted));
    expect(list.resyncs).toEqual(['membership', 'membership']);
  },
);

test('notifies a watcher of items that moved, if the store has what the watcher was shown', async () => {
  await using parts = await openParts();
  await withLifted(parts, 6);
  await using list = await openLiveList(parts, parts.session('ann').identity);
  await parts.services.upsertMembers(parts.service, [withoutSupervisor]);
  await parts.fanOut();
  await list.caughtUp();
  expect(placesIn(list.shown.values())).toEqual(
    placesIn(await wholeList(parts.services, parts.session('ann'), { pageSize: 100 })),
  );
  expect(list.resyncs).toEqual(['membership']);
});

test('is for admins only', async () => {
  await using parts = await openParts();
  for (const what of ['rebuildFeed', 'readFeedState'] as const)
    await expect(parts.services[what](parts.service, 'ann')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await parts.repositories.feedRebuilds.countDue()).toBe(0);
});

test('reads the actions of all time at once if earlier feeds had few', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  for (const days of [0, 1, 30, 400])
    await parts.publish({ scope: 'PUBLIC', conducted: new Date(Date.now() - days * 86_400_000) });
  await parts.fanOut();
  await using worker = parts.rebuildWorker();
  worker.start();
  const looks = async (): Promise<number> => {
    const commands = await commandsOf(parts.database, async () => {
      await parts.services.rebuildFeed(parts.admin, 'ann');
      await parts.idle();
    });
    return commands.filter(({ name, collection }) => name === 'find' && collection === 'actions').length;
  };
  const first = await looks();
  // The fan-outs under way, and one look: by the reader, by what they follow and by who passes it on.
  expect(await looks()).toBe(4);
  expect(first).toBeGreaterThan(12);
  expect(await stored(parts, 'ann')).toHaveLength(4);
});
