import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Core } from '../../../src/core/core.ts';
import { blockMember, unblockMember } from '../../../src/features/blocks/blocks.ts';
import { follow, followMany } from '../../../src/features/follow/follow.ts';
import { unfollow } from '../../../src/features/follow/unfollow.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import { upkeep } from '../../../src/features/upkeep/jobs/upkeep.ts';
import { hold } from '../../support/held.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openLiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';

let parts: Parts;
beforeEach(async () => void (parts = await openParts()));
afterEach(async () => parts[Symbol.asyncDispose]());

const block = (core: Core = parts.core) => blockMember(core, parts.session('ann'), 'bob');
const unblock = (core: Core = parts.core) => unblockMember(core, parts.session('ann'), 'bob');

/** One call stops before its write, while the other happens. */
async function between(
  first: (core: Core, held: ReturnType<typeof hold>) => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<unknown> {
  const held = hold();
  const call = first(parts.core, held);
  await held.isReached;
  await second();
  held.letGo();
  return call;
}

async function follows(): Promise<string[]> {
  const found = await parts.core.collections.follows.find({ active: true }).toArray();
  return found.map(({ followerId, refId }) => `${followerId} ${refId}`);
}

const heldOpen = (core: Core, held: ReturnType<typeof hold>): Core => ({
  ...core,
  follows: { ...core.follows, open: (...args) => held.wait().then(() => core.follows.open(...args)) },
});

test.each([
  ['by the blocked', (core: Core) => follow(core, parts.session('bob'), 'ann', 0)],
  ['by who blocks', (core: Core) => follow(core, parts.session('ann'), 'bob', 0)],
  [
    'by a service',
    (core: Core) =>
      followMany(core, parts.service, [
        { followerId: 'bob', refId: 'ann' },
        { followerId: 'ann', refId: 'bob' },
      ]),
  ],
] as const)(
  'a follow %s that is on its way while a block begins has ended, in either order',
  async (_by, call) => {
    await between((core, held) => call(heldOpen(core, held)), block);
    expect(await follows()).toEqual([]);
    await unblock();
    expect(await follows()).toEqual([]);
    await call(parts.core);
    expect((await follows()).length).toBeGreaterThan(0);
    await between(
      async (core, held) => {
        const { blocks } = core;
        await block({
          ...core,
          blocks: { ...blocks, add: (...args) => held.wait().then(() => blocks.add(...args)) },
        });
      },
      () => call(parts.core),
    );
    expect(await follows()).toEqual([]);
  },
);

test.each([
  [
    'after its write',
    (core: Core): Core['follows']['open'] =>
      async (...args) => {
        await core.follows.open(...args);
        throw new Error('cut off');
      },
    null,
  ],
  ['before it ends', null, () => Promise.reject(new Error('cut off'))],
] as const)(
  'a follow that is on its way while a block begins, and is cut off %s, ends nevertheless',
  async (_when, open, close) => {
    const cutOff = (core: Core): Core => ({
      ...core,
      follows: {
        ...core.follows,
        ...(open === null ? {} : { open: open(core) }),
        ...(close === null ? {} : { close }),
      },
    });
    const call = between(
      (core, held) => follow(heldOpen(cutOff(core), held), parts.session('ann'), 'bob', 0),
      block,
    );
    await expect(call).rejects.toThrow('cut off');
    expect(await follows()).toEqual(['ann bob']);
    await runnerOf(upkeep, parts.core).round(new Date(Date.now() + 62_000));
    expect(await follows()).toEqual([]);
    expect(await parts.core.follows.countFollowers('bob')).toBe(0);
  },
);

const heldFollowed = (core: Core, held: ReturnType<typeof hold>): Core => ({
  ...core,
  blocks: {
    ...core.blocks,
    setFollowed: (...args) => held.wait().then(() => core.blocks.setFollowed(...args)),
  },
});

test('a follow of who blocks, on its way while the block ends, is a follow; before, it ends with the block', async () => {
  await block();
  await between((core, held) => follow(heldFollowed(core, held), parts.session('bob'), 'ann', 0), unblock);
  expect(await follows()).toEqual(['bob ann']);
  await block();
  await follow(parts.core, parts.session('bob'), 'ann', 0);
  await unblock();
  expect(await follows()).toEqual([]);
});

test('what is left of a block whose end was cut off counts as one, until its end is repeated', async () => {
  const bob = parts.session('bob');
  await block();
  const left = { own: { $exists: false } };
  await parts.core.collections.blocks.updateMany({}, { $unset: { own: 1, other: 1 } });
  expect(await follow(parts.core, bob, 'ann', 0)).toMatchObject({ isNobody: true, followerCount: 1 });
  expect(await unfollow(parts.core, parts.session('bob'), 'ann', true)).toMatchObject({
    isNobody: true,
    followerCount: 0,
  });
  expect(await parts.core.collections.blocks.countDocuments(left)).toBe(2);
  expect(await follows()).toEqual([]);
  await unblock();
  expect(await parts.core.collections.blocks.countDocuments()).toBe(0);
  await follow(parts.core, parts.session('bob'), 'ann', 0);
  expect(await follows()).toEqual(['bob ann']);
});

test('an unfollow of who blocks, on its way while the block ends, leaves nothing, in either order', async () => {
  for (const isBetween of [true, false]) {
    await block();
    await follow(parts.core, parts.session('bob'), 'ann', 0);
    const end = (core: Core) => unfollow(core, parts.session('bob'), 'ann', true);
    if (isBetween) await between((core, held) => end(heldFollowed(core, held)), unblock);
    else {
      await end(parts.core);
      await unblock();
    }
    expect(await follows()).toEqual([]);
    expect(await parts.core.collections.blocks.countDocuments()).toBe(0);
  }
});

test('a comment that is on its way while a block begins counts as before it; after it, it lifts nothing', async () => {
  const { services, session } = parts;
  await services.follow(session('ann'), 'cid', 0);
  const place = async (isBetween: boolean): Promise<boolean> => {
    const conducted = new Date(Date.now() - 36_000_000);
    const { action } = await parts.publish({ actorId: 'cid', scope: 'PUBLIC', conducted });
    await parts.fanOut();
    const comment = (core: Core) =>
      addInteraction(core, session('bob'), { actionId: action.id, kind: 'COMMENT', text: 'x' });
    const heldRecord = (core: Core, held: ReturnType<typeof hold>): Core => ({
      ...core,
      interactions: {
        ...core.interactions,
        record: (...args) => held.wait().then(() => core.interactions.record(...args)),
      },
    });
    if (isBetween) await between((core, held) => comment(heldRecord(core, held)), block);
    else {
      await block();
      await comment(parts.core);
    }
    await parts.fanOut();
    const { edges } = await services.readFeed(session('ann'), {});
    const found = edges.find(({ node }) => node.action.id === action.id);
    await unblock();
    return (found?.node.relevancy.getTime() ?? 0) > conducted.getTime();
  };
  expect([await place(true), await place(false)]).toEqual([true, false]);
});

test.each(['blockMember', 'unblockMember'] as const)(
  '%s: a call that dies before watchers are notified is completed by the next one',
  async (change) => {
    const { core, services } = parts;
    const ann = () => parts.session('ann');
    await services.blockMember(ann(), 'bob');
    if (change === 'blockMember') await services.unblockMember(ann(), 'bob');
    await using list = await openLiveList(parts, ann().identity);
    const dies = { ...core.readerStamps, renew: () => Promise.reject(new Error('It died')) };
    const calls = { blockMember, unblockMember };
    await expect(calls[change]({ ...core, readerStamps: dies }, ann(), 'bob')).rejects.toThrow('It died');
    expect(list.resyncs).toEqual([]);
    await services[change](ann(), 'bob');
    await list.caughtUp();
    expect(list.resyncs).toEqual(['membership']);
    // Once more there is nothing left to do.
    await services[change](ann(), 'bob');
    await list.caughtUp();
    expect(list.resyncs).toEqual(['membership']);
  },
);
