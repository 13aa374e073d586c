import { expect, test } from 'vitest';
import type { FeedPage } from '../../../src/core/shapes.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const OPTIONS = { monitorCommands: true };

/** Two of three refs are pulled; Ann follows one of these, and the one that is pushed. */
interface World extends AsyncDisposable {
  readonly parts: Parts;
  /** A process that has not read anything yet. */
  fresh(): Promise<Parts>;
}

async function openWorld(): Promise<World> {
  const first = await openParts(OPTIONS);
  await first.services.followMany(
    first.service,
    ['pulled', 'pushed'].map((refId) => ({ followerId: 'ann', refId })),
  );
  await first.services.followMany(first.service, [{ followerId: 'bob', refId: 'also' }]);
  await first.database.collections.refs.updateMany(
    { _id: { $in: ['pulled', 'also'] } },
    { $set: { isPulled: true, pullSince: new Date(0) } },
  );
  const parts = await first.reopen(OPTIONS);
  return {
    parts,
    fresh: () => first.reopen(OPTIONS),
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
    },
  };
}

async function publish(parts: Parts, refId: string, hoursAgo: number, more: object = {}): Promise<string> {
  const { action } = await parts.publish({
    refs: [{ id: refId, type: 'site', label: refId }],
    conducted: new Date(Date.now() - DAY - hoursAgo * HOUR),
    ...more,
  });
  await parts.fanOut();
  return action.id;
}

async function read(parts: Parts, first: number, userId = 'ann'): Promise<FeedPage> {
  return parts.services.readFeed(parts.session(userId), { first });
}

function shown({ edges }: FeedPage): readonly unknown[] {
  return edges.map(({ node: { actionId, reasons } }) => [actionId, [...reasons].sort()]);
}

async function commands(parts: Parts, first: number): Promise<string[]> {
  const seen = await commandsOf(parts.database, () => read(parts, first));
  return seen.map(({ name, collection }) => `${name} ${collection}`);
}

test('any change of pulled actions is on the next page, as a process without a cache shows it', async () => {
  await using world = await openWorld();
  const { parts } = world;
  const pulled: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    pulled.push(await publish(parts, 'pulled', n + 0.5));
    await publish(parts, 'pushed', n);
    await publish(parts, 'also', n + 0.7);
  }
  const { services } = parts;
  const admin = parts.session('admin', 'admin');
  const ann = parts.session('ann');
  const steps: readonly [string, () => Promise<unknown>][] = [
    ['nothing', () => Promise.resolve()],
    ['something new', () => publish(parts, 'pulled', -1)],
    ['something new that is pushed', () => publish(parts, 'pushed', -2)],
    ['it names her', () => publish(parts, 'pulled', -3, { mentions: ['ann'] })],
    ['hidden', () => services.hideAction(admin, pulled[1] ?? '', null)],
    ['hidden by herself', () => services.hideFeedItem(ann, pulled[2] ?? '')],
    ['deleted', () => services.deleteAction(admin, pulled[0] ?? '')],
    [
      'bumped from below the page',
      async () => {
        await services.addInteraction(parts.session('svc', 'admin'), {
          actionId: pulled[11] ?? '',
          kind: 'COMMENT',
        });
        await parts.fanOut();
      },
    ],
    [
      'many new ones',
      async () => {
        for (let n = 0; n < 7; n += 1) await publish(parts, 'pulled', -4 - n);
      },
    ],
    ['the actor is muted', () => services.addMute(ann, { memberId: 'actor' })],
    ['and heard again', () => services.removeMute(ann, { memberId: 'actor' })],
    [
      'another pulled ref is followed',
      () => services.followMany(parts.service, [{ followerId: 'ann', refId: 'also' }]),
    ],
    [
      'the actor is followed',
      () => services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]),
    ],
    ['the first is left with its history', () => services.unfollow(ann, 'pulled', true)],
    ['the other as well', () => services.unfollow(ann, 'also', true)],
    ['followed again', () => services.followMany(parts.service, [{ followerId: 'ann', refId: 'pulled' }])],
  ];
  for (const [what, change] of steps) {
    // The longer one first: the shorter goes by what that has left.
    for (const first of [3, 10, 3, 10]) await read(parts, first);
    await change();
    await using fresh = await world.fresh();
    for (const first of [3, 10, 40]) {
      const expected = shown(await read(fresh, first));
      expect([what, first, shown(await read(parts, first))]).toEqual([what, first, expected]);
      expect([what, first, shown(await read(parts, first))]).toEqual([what, first, expected]);
    }
  }
});

test('a page takes one more command only if the previous page of that length did not reach as far', async () => {
  await using world = await openWorld();
  const { parts } = world;
  for (let n = 0; n < 12; n += 1) {
    await publish(parts, 'pulled', n + 0.5);
    await publish(parts, 'pushed', n);
  }
  const [ahead, asked] = [['aggregate feeds'], ['aggregate feeds', 'aggregate actions']];
  await read(parts, 4);
  expect(await commands(parts, 4)).toEqual(ahead);
  for (const first of [2, 8]) {
    expect((await commands(parts, first)).slice(0, 2)).toEqual(asked);
    expect(await commands(parts, first)).toEqual(ahead);
  }
  expect(await commands(parts, 4)).toEqual(ahead);
  const newest = await publish(parts, 'pulled', -1);
  expect((await read(parts, 8)).edges[0]?.node.actionId).toBe(newest);
  expect(await commands(parts, 8)).toEqual(ahead);
  await parts.services.hideAction(parts.session('admin', 'admin'), newest, null);
  expect(await commands(parts, 8)).toContain('aggregate actions');
  expect(await commands(parts, 8)).toEqual(ahead);
});
