import { expect, test } from 'vitest';
import { MemoryWorkSignal } from '../../../src/live/work-signal.ts';
import { NO_QUOTAS } from '../../../src/core/quotas.ts';
import { upsertMembers } from '../../../src/features/directory/directory.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import { settleFollows } from '../../../src/features/follow/settle-follows.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { claimOne } from '../../support/claim-one.ts';

const DAY = 86_400_000;
const CONDUCTED = new Date(Date.UTC(2026, 0, 1));
const COMMENTED = new Date(CONDUCTED.getTime() + 10 * DAY);
/** Where somebody has it whom the comment does not concern. */
const BARELY = new Date(CONDUCTED.getTime() + DAY);

/** Ann, in a department with Peer, follows the actor. Peer has commented on what the actor did. */
async function openScene(parts: Parts): Promise<string> {
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'ann', name: 'Ann', departmentId: 'd' },
    { memberId: 'peer', name: 'Peer', departmentId: 'd' },
  ]);
  await parts.services.follow(parts.session('ann'), 'actor', 0);
  const { action } = await parts.publish({ conducted: CONDUCTED });
  await parts.services.addInteraction(parts.session('peer', 'admin'), {
    ...{ actionId: action.id, kind: 'COMMENT', at: COMMENTED },
  });
  return action.id;
}

const ELSEWHERE = [{ memberId: 'ann', name: 'Ann', departmentId: 'elsewhere' }];

async function relevancyOf(parts: Parts, actionId: string): Promise<Date | undefined> {
  return (await parts.feedStore.find('ann', [actionId]))[0]?.relevancy;
}

test('rebuilds a feed for a change also if the change was slow and the feed was rebuilt before it', async () => {
  await using parts = await openParts();
  await using workSignal = new MemoryWorkSignal();
  const id = await openScene(parts);
  await parts.fanOut();
  expect(await relevancyOf(parts, id)).toEqual(COMMENTED);
  const { repositories, feedStore } = parts;
  const slow: typeof repositories.members.upsert = async (changes, now) => {
    await parts.fanOut();
    await repositories.members.upsert(changes, now);
  };
  const members = { ...repositories.members, upsert: slow };
  const dependencies = {
    ...repositories,
    ...parts.live,
    feedStore,
    members,
    workSignal,
    quotas: NO_QUOTAS,
  };
  await upsertMembers(dependencies, parts.service, ELSEWHERE);
  await parts.fanOut();
  expect(await relevancyOf(parts, id)).toEqual(BARELY);
});

test('an earlier fan-out does not undo a rebuild after a change of groups', async () => {
  await using parts = await openParts();
  const id = await openScene(parts);
  const { fanOuts } = parts.repositories;
  // It has read the reader as they were, and writes after the feed has been rebuilt.
  const old = await claimOne(fanOuts, 'old', new Date(Date.now() + DAY), 60_000);
  await parts.services.upsertMembers(parts.service, ELSEWHERE);
  await using rebuilds = parts.rebuildWorker();
  rebuilds.start();
  await parts.feedStore.deliver([
    {
      actionId: id,
      readers: [{ userId: 'ann', relevancy: COMMENTED, reasons: ['FOLLOW'] }],
      isFirstAttempt: false,
    },
  ]);
  expect(old !== null && (await fanOuts.finish([{ claim: old, delivered: 1 }])).size).toBe(1);
  await parts.fanOut();
  expect(await relevancyOf(parts, id)).toEqual(BARELY);
});

test.each(['hide', 'delete'] as const)(
  'leaves nothing of a removed action: %s during a follow',
  async (what) => {
    await using parts = await openParts();
    const id = await openScene(parts);
    await parts.fanOut();
    const { repositories } = parts;
    const admin = parts.session('admin', 'admin');
    const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
    await repositories.follows.open([{ followerId: 'bob', refId: 'actor', since: CONDUCTED }], tokens);
    const opened = await repositories.follows.unsettled([{ followerId: 'bob', refId: 'actor' }]);
    await settleFollows(
      {
        ...repositories,
        workSignal: new MemoryWorkSignal(),
        ...parts.live,
        feedStore: {
          ...parts.feedStore,
          async fill(userId, entries) {
            if (what === 'hide') await parts.services.hideAction(admin, id, null);
            else await parts.services.deleteAction(admin, id);
            await parts.fanOut();
            return parts.feedStore.fill(userId, entries);
          },
        },
      },
      opened,
      { tokens, epochs: new Map([['actor', null]]) },
    );
    await parts.fanOut();
    expect(await parts.feedOf('bob')).toEqual([]);
    expect(await parts.feedStore.holders(id, { limit: 10 })).toEqual([]);
  },
);

const REFS = [
  { id: 'task', type: 'task', label: 'Task' },
  { id: 'site', type: 'site', label: 'Site' },
];

/** Ann follows an action by two refs and is responsible for one of them, by which a like has lifted it fully. */
async function openLifted(parts: Parts): Promise<{ readonly id: string; readonly lifted: Date }> {
  await parts.services.followMany(parts.service, [
    { followerId: 'ann', refId: 'task', isAssigned: true },
    { followerId: 'ann', refId: 'site' },
  ]);
  const { action } = await parts.publish({ scope: 'PUBLIC', conducted: CONDUCTED, refs: REFS });
  await parts.services.addInteraction(parts.session('peer', 'admin'), {
    ...{ actionId: action.id, kind: 'LIKE', at: COMMENTED },
  });
  await parts.fanOut();
  const lifted = await relevancyOf(parts, action.id);
  if (lifted === undefined) throw new Error('Ann does not have it');
  return { id: action.id, lifted };
}

/** Ends the fan-outs that are open, and rebuilds nothing. */
async function allPasses(parts: Parts): Promise<void> {
  await using passes = parts.worker();
  passes.start();
  await expect.poll(() => parts.repositories.actions.openFanOuts()).toEqual({});
}

/**
 * Once, between the read of the actions and the first write of the item, or else the last write: an edit takes the ref by which
 * it was lifted, and its pass ends.
 */
function editedBeforeFill(parts: Parts, id: string): Parts['feedStore'] {
  let isEdited = false;
  return {
    ...parts.feedStore,
    async fill(userId, entries, options) {
      const isLast = options?.isCompleteDownTo !== undefined;
      if (!isEdited && (isLast || entries.some(({ actionId }) => actionId === id))) {
        isEdited = true;
        await parts.services.updateAction(parts.session('actor'), id, { refs: REFS.slice(1) });
        await allPasses(parts);
      }
      return parts.feedStore.fill(userId, entries, options);
    },
  };
}

/** Where it stands by the definition. */
async function rebuiltRelevancy(parts: Parts, id: string): Promise<Date | undefined> {
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  return relevancyOf(parts, id);
}

test.each([
  ['that finds the feed as it should be', () => Promise.resolve()],
  ['of a feed that was lost', (parts: Parts) => parts.feedStore.drop('ann')],
  [
    'that corrects the item',
    async (parts: Parts) => {
      const held = await parts.feedStore.page({ userId: 'ann', limit: 10 });
      await parts.feedStore.fill(
        'ann',
        held.entries.map((entry) => ({ ...entry, relevancy: new Date(entry.relevancy.getTime() + DAY) })),
      );
    },
  ],
])('a rebuild %s leaves no item higher than a concurrent edit put it', async (_name, prepare) => {
  await using parts = await openParts();
  const { id, lifted } = await openLifted(parts);
  await prepare(parts);
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await using rebuilds = parts.rebuildWorker({ feedStore: editedBeforeFill(parts, id) });
  rebuilds.start();
  await expect.poll(() => parts.repositories.feedRebuilds.countDue()).toBe(0);
  const after = await relevancyOf(parts, id);
  expect(after?.getTime()).toBeLessThan(lifted.getTime());
  expect(after).toEqual(await rebuiltRelevancy(parts, id));
});

test('a follow copies no item higher than a concurrent edit put it', async () => {
  await using parts = await openParts();
  const { id, lifted } = await openLifted(parts);
  const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
  const pair = { followerId: 'ann', refId: 'actor' };
  await parts.repositories.follows.open([{ ...pair, since: CONDUCTED }], tokens);
  await settleFollows(
    {
      ...parts.repositories,
      ...parts.live,
      workSignal: new MemoryWorkSignal(),
      feedStore: editedBeforeFill(parts, id),
    },
    await parts.repositories.follows.unsettled([pair]),
    { tokens, epochs: new Map([['actor', null]]) },
  );
  await parts.fanOut();
  const after = await relevancyOf(parts, id);
  expect(after?.getTime()).toBeLessThan(lifted.getTime());
  expect(after).toEqual(await rebuiltRelevancy(parts, id));
});

test('feeds that are rebuilt together are right though everything changed after the one read of their actions', async () => {
  await using parts = await openParts();
  const { services, service, repositories, feedStore } = parts;
  const [actor, admin, peer] = [
    parts.session('actor'),
    parts.session('admin', 'admin'),
    parts.session('peer'),
  ];
  const readers = ['ann', 'bob', 'cid'];
  await services.followMany(
    service,
    readers.map((followerId) => ({ followerId, refId: 'actor' })),
  );
  const publish = async (actorId = 'actor'): Promise<string> =>
    (await parts.publish({ actorId, scope: 'PUBLIC', conducted: CONDUCTED })).action.id;
  const kept = await publish();
  const [hidden, narrowed, lifted, shown] = [
    await publish(),
    await publish(),
    await publish(),
    await publish(),
  ];
  const followed = await publish('other');
  await services.hideAction(admin, shown, null);
  await parts.fanOut();
  for (const userId of readers) {
    await feedStore.drop(userId);
    await services.rebuildFeed(parts.admin, userId);
  }
  let isChanged = false;
  let added = '';
  const sourceActions: typeof repositories.sourceActions = {
    ...repositories.sourceActions,
    async candidates(...args) {
      const found = await repositories.sourceActions.candidates(...args);
      if (isChanged || !found.actions.some(({ id }) => id === kept)) return found;
      isChanged = true;
      await services.hideAction(admin, hidden, null);
      await services.unhideAction(admin, shown);
      await services.updateAction(actor, narrowed, { scope: 'RESTRICTED', recipients: ['bob'] });
      await services.addInteraction(peer, { actionId: lifted, kind: 'LIKE' });
      added = await publish();
      await services.follow(parts.session('ann'), 'other', 10);
      await allPasses(parts);
      return found;
    },
  };
  await using rebuilds = parts.rebuildWorker({ sourceActions });
  rebuilds.start();
  await expect.poll(() => repositories.feedRebuilds.countDue()).toBe(0);
  await allPasses(parts);
  const stored = () => Promise.all(readers.map((userId) => feedStore.page({ userId, limit: 100 })));
  const together = await stored();
  const ofAll = [kept, lifted, shown, added];
  expect(together.map(({ entries }) => entries.map(({ actionId }) => actionId).sort())).toEqual(
    [[...ofAll, followed], [...ofAll, narrowed], ofAll].map((ids) => ids.sort()),
  );
  for (const userId of readers) {
    await services.rebuildFeed(parts.admin, userId);
    await parts.fanOut();
  }
  expect(await stored()).toEqual(together);
});

test('a like lifts the action for a reader whom it concerns since it was recorded and before it was counted', async () => {
  await using parts = await openParts();
  const id = await openScene(parts);
  await parts.fanOut();
  const before = await relevancyOf(parts, id);
  await parts.database.collections.actions.updateMany({}, { $set: { 'fanOut.doneAt': new Date(0) } });
  const { engagement } = parts.core;
  let isCounted = false;
  const core = {
    ...parts.core,
    engagement: {
      ...engagement,
      async countInteraction(...args: Parameters<typeof engagement.countInteraction>) {
        isCounted = true;
        await parts.services.upsertMembers(parts.service, [
          { memberId: 'ann', name: 'Ann', departmentId: 'elsewhere', supervisorId: 'boss' },
        ]);
        await parts.fanOut();
        await parts.database.collections.actions.updateMany({}, { $set: { 'fanOut.doneAt': new Date(0) } });
        return engagement.countInteraction(...args);
      },
    },
  };
  await addInteraction(core, parts.session('boss', 'admin'), { actionId: id, kind: 'LIKE' });
  await parts.fanOut();
  expect(isCounted).toBe(true);
  const after = await relevancyOf(parts, id);
  expect(after?.getTime()).toBeGreaterThan(before?.getTime() ?? Infinity);
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.fanOut();
  expect(await relevancyOf(parts, id)).toEqual(after);
});
