import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { readerActionId } from '../../../src/storage/documents/reader-action-id.ts';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { endSnoozeAt } from '../../support/snoozes.ts';

const HOUR = 3_600_000;
const later = (): Date => new Date(clock.time() + HOUR);
const YESTERDAY = Date.UTC(2024, 0, 10);

/** A hundred items that Ann has read before; each stands a minute above the one before it. */
async function openFeed(): Promise<{ readonly parts: Parts; readonly ids: readonly string[] }> {
  const parts = await openParts({ monitorCommands: true, cacheBytes: 0 });
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: 100 }, (_, n) => ({
      ...{ actorId: 'actor', scope: 'PUBLIC', conducted: new Date(YESTERDAY + n * 60_000) },
      descriptor: { liked: { objectType: 'post', objectId: String(n % 10) } },
    })),
  );
  await parts.fanOut();
  await parts.services.readFeed(parts.session('ann'), {});
  return { parts, ids: outcomes.map(({ action }) => action?.id ?? '') };
}

async function costsOf(parts: Parts, work: (session: ReturnType<Parts['session']>) => Promise<unknown>) {
  const session = parts.session('ann');
  await session.profile();
  const commands = await commandsOf(parts.database, () => work(session));
  return { commands, names: commands.map(({ name, collection }) => `${name} ${collection}`) };
}

test('a page costs one more query for a reader with snoozes, and another one if an item has come back', async () => {
  const { parts, ids } = await openFeed();
  await using _parts = parts;
  const [first = '', second = ''] = [...ids].reverse();
  const page = (more: object = {}) =>
    costsOf(parts, (session) => parts.services.readFeed(session, { first: 10, ...more }));
  expect((await page()).names).toEqual(['aggregate feeds', 'find actions']);
  await parts.services.snoozeFeedItem(parts.session('ann'), first, later());
  const snoozed = await page();
  expect(snoozed.names.slice(0, 2)).toEqual(['aggregate feeds', 'find itemMarks']);
  expect(snoozed.names.slice(2, 4).sort()).toEqual(['find actions', 'find itemMarks']);
  await parts.services.unsnoozeFeedItem(parts.session('ann'), first);
  await parts.services.snoozeFeedItem(parts.session('ann'), second, later());
  await endSnoozeAt(parts, 'ann', second, clock.now());
  const back = await page();
  expect(back.names.filter((name) => name === 'find newsfeedItems')).toHaveLength(1);
  expect(back.names).toHaveLength(4);
  await parts.services.snoozeFeedItem(parts.session('ann'), first, later());
  const list = await page({ filter: { snoozed: true } });
  expect(list.names).toHaveLength(5);
});

/** Enough for a planner to prefer an index over reading everything. */
const MANY = 5_000;
/** The local engine plans by statistics that it gathers in the background. */
const planned = { timeout: PATIENCE_MS, interval: 250 };

test('snoozed and due items are found by their index', async () => {
  const { parts, ids } = await openFeed();
  await using _parts = parts;
  const [id = ''] = ids;
  await parts.database.collections.itemMarks.insertMany(
    Array.from({ length: MANY }, (_, n) => ({
      _id: readerActionId(`u${String(n)}`, new ObjectId().toHexString()),
      ...{ state: 'SNOOZED' as const, at: clock.now(), until: later(), due: later() },
    })),
  );
  await parts.services.snoozeFeedItem(parts.session('ann'), id, later());
  const { markEnds } = parts.repositories;
  for (const [index, work] of [
    ['snoozes', () => markEnds.ahead('ann', 'SNOOZED', clock.now())],
    ['snoozes', () => markEnds.past('ann', clock.now())],
    ['snoozes_due', () => markEnds.claimEnded({ token: 'claim', now: clock.now(), leaseMs: 1_000 }, 100)],
  ] as const) {
    const commands = await commandsOf(parts.database, work);
    const [read, ...rest] = commands;
    if (read === undefined) throw new Error('Nothing was asked');
    await expect
      .poll(() => stagesOf(parts.database, read), planned)
      .toSatisfy((stages: Awaited<ReturnType<typeof stagesOf>>) =>
        stages.some(({ indexName }) => indexName === index),
      );
    expect(rest).toEqual([]);
  }
});

test('groups cost nothing more when an item is back', async () => {
  const { parts, ids } = await openFeed();
  await using _parts = parts;
  const [lowest = ''] = ids;
  const asked = async (): Promise<{ readonly actions: number; readonly groups: number }> => {
    const { names } = await costsOf(parts, async (session) => {
      const { edges } = await parts.services.readFeedGroups(session, { first: 10 });
      await Promise.all(edges.map(({ node }) => node.load(({ length }) => length > 1_000)));
    });
    return {
      actions: names.filter((name) => name === 'find actions').length,
      groups: names.filter((name) => name === 'aggregate actions').length,
    };
  };
  // The first time the process learns what it has not read yet.
  await asked();
  const before = await asked();
  await parts.services.snoozeFeedItem(parts.session('ann'), lowest, later());
  await endSnoozeAt(parts, 'ann', lowest, clock.now());
  expect(await asked()).toEqual(before);
});

test('ends of snoozes are announced in four round trips, however many end at the same moment', async () => {
  const { parts, ids } = await openFeed();
  await using _parts = parts;
  for (const id of ids.slice(0, 20)) {
    await parts.services.snoozeFeedItem(parts.session('ann'), id, later());
    await endSnoozeAt(parts, 'ann', id, clock.now());
  }
  const { markEnds } = parts.repositories;
  const commands = await commandsOf(parts.database, async () => {
    const ended = await markEnds.claimEnded({ token: 'claim', now: clock.now(), leaseMs: 1_000 }, 100);
    expect(ended).toHaveLength(20);
    await markEnds.finishEnded('claim', ended);
  });
  expect(commands.map(({ name }) => name)).toEqual(['find', 'update', 'find', 'update']);
});

test('snoozing and unsnoozing take the same commands, however many items are snoozed', async () => {
  const { parts, ids } = await openFeed();
  await using _parts = parts;
  const [id = ''] = ids;
  const set = await costsOf(parts, (session) => parts.services.snoozeFeedItem(session, id, later()));
  const undo = await costsOf(parts, (session) => parts.services.unsnoozeFeedItem(session, id));
  // Some of them at the same time, and one of them the first time only.
  expect({ set: set.names.length, undo: undo.names.length }).toEqual({ set: 7, undo: 6 });
});
