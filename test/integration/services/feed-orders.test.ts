import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { FeedPage } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const DAY = 86_400_000;

async function recent(parts: Parts, first: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: FeedPage = await parts.services.readFeed(parts.session('ann'), {
      first,
      after,
      order: 'RECENT',
    });
    ids.push(...page.edges.map((edge) => edge.node.actionId));
    if (!page.hasMore) return ids;
    after = page.end;
  }
}

test('orders by the time actions were conducted, however much was bumped, in pages of any size', async () => {
  await using parts = await openParts();
  const now = Date.now();
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: 300 }, (_, n) => ({
      actorId: 'actor',
      mentions: ['ann'],
      conducted: new Date(now - 400 * DAY + Math.floor(n / 2) * DAY),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    })),
  );
  const ids = outcomes.map((outcome) => outcome.action?.id ?? '');
  for (let n = 0; n < 300; n += 11)
    await parts.services.addInteraction(parts.session('svc', 'admin'), {
      actionId: ids[n] ?? '',
      kind: 'COMMENT',
      at: new Date(now - (n % 7) * DAY),
    });
  await parts.fanOut();
  const expected = [...ids].reverse();
  for (const first of [7, 100]) expect(await recent(parts, first)).toEqual(expected);
  const byRelevancy = await parts.feedOf('ann');
  expect(byRelevancy).not.toEqual(expected);
  expect([...byRelevancy].sort()).toEqual([...ids].sort());
});

test('puts actions with a time slightly in the future first', async () => {
  await using parts = await openParts();
  const ahead = await parts.publish({ mentions: ['ann'], conducted: new Date(Date.now() + 4 * 60_000) });
  const now = await parts.publish({ mentions: ['ann'] });
  await parts.fanOut();
  expect(await recent(parts, 1)).toEqual([ahead.action.id, now.action.id]);
  expect(await parts.feedOf('ann')).toEqual([now.action.id, ahead.action.id]);
});

test.each([1, 150])(
  'of a burst, %i actions that were conducted ahead of the clock come first, whenever they were recorded and however few are stored',
  async (count) => {
    await using parts = await openParts({ cap: 60 });
    const now = Date.now();
    const publish = async (conducted: readonly Date[]): Promise<string[]> => {
      const outcomes = await parts.services.publishActions(
        parts.service,
        conducted.map((time) => ({
          ...{ actorId: 'actor', mentions: ['ann'], conducted: time },
          descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'post' } },
        })),
      );
      return outcomes.map(({ action }) => action?.id ?? '');
    };
    const timesFrom = (from: number, length: number): Date[] =>
      Array.from({ length }, (_, n) => new Date(from - n));
    const older = await publish(timesFrom(now - 3_600_000, 5));
    const ahead = await publish(timesFrom(now + 4 * 60_000, count));
    // They were recorded before all of the burst.
    const recorded = new Date(now - 30_000);
    await parts.database.collections.actions.updateMany(
      { _id: { $in: ahead.map((id) => new ObjectId(id)) } },
      { $set: { recorded, latest: recorded } },
    );
    const burst = await publish(timesFrom(now, 120));
    await parts.fanOut();
    for (const first of [10, 100]) expect(await recent(parts, first)).toEqual([...ahead, ...burst, ...older]);
  },
);

test('rejects a cursor of another order', async () => {
  await using parts = await openParts();
  await parts.publish({ mentions: ['ann'] });
  await parts.publish({ mentions: ['ann'] });
  await parts.fanOut();
  const { end: endCursor } = await parts.services.readFeed(parts.session('ann'), { first: 1 });
  for (const order of ['RECENT', 'TOP'] as const)
    await expect(
      parts.services.readFeed(parts.session('ann'), { after: endCursor, order }),
    ).rejects.toMatchObject({ code: 'BAD_CURSOR' });
});
