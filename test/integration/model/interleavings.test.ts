import { expect, test } from 'vitest';
import { DEFAULT_WEIGHTS } from '../../../src/domain/relevancy.ts';
import { MemoryWorkSignal } from '../../../src/realtime/memory-work-signal.ts';
import { NO_QUOTAS } from '../../../src/services/tenants/quotas.ts';
import { upsertMembers } from '../../../src/services/members/directory.ts';
import { settleFollows } from '../../../src/services/follow/settle-follows.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { openParts, type Parts } from '../../support/parts.ts';

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

test('rebuilds a feed for the change also where the change was slow and the feed was rebuilt before it', async () => {
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
    weights: DEFAULT_WEIGHTS,
    quotas: NO_QUOTAS,
  };
  await upsertMembers(dependencies, parts.service, ELSEWHERE);
  await parts.fanOut();
  expect(await relevancyOf(parts, id)).toEqual(BARELY);
});

test('does not leave a feed as it was before a move because of a fan-out that began before', async () => {
  await using parts = await openParts();
  const id = await openScene(parts);
  const { fanOuts } = parts.repositories;
  // It has read the reader as they were, and writes after the feed has been rebuilt.
  const old = await fanOuts.claim('old', new Date(Date.now() + DAY), 60_000);
  await parts.services.upsertMembers(parts.service, ELSEWHERE);
  await using rebuilds = parts.rebuildWorker();
  rebuilds.start();
  await parts.feedStore.deliver({
    actionId: id,
    readers: [{ userId: 'ann', relevancy: COMMENTED, reasons: ['FOLLOW'] }],
    isFirstAttempt: false,
  });
  expect(old !== null && (await fanOuts.finish(old, 1))).toBe(true);
  await parts.fanOut();
  expect(await relevancyOf(parts, id)).toEqual(BARELY);
});

test.each(['hide', 'delete'] as const)(
  'leaves nothing of an action that is gone: %s during a follow',
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
        weights: DEFAULT_WEIGHTS,
        newToken: newObjectId,
        workSignal: { notify: () => undefined },
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
