import { expect, test } from 'vitest';
import { openParts } from '../../support/parts.ts';

const DAY = 86_400_000;

test('an unknown type in a filter is refused, in lists, slices and subscriptions, and the known ones are named', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const refusal = {
    code: 'BAD_USER_INPUT',
    message: expect.stringMatching(
      /^filter\.types\.1: Unknown type "Nope", known are ApplicationRating, .*Custom$/,
    ) as string,
  };
  const filter = { types: ['Custom', 'Nope'] };
  const session = parts.session('ann');
  await expect(services.readFeed(session, { filter })).rejects.toMatchObject(refusal);
  await expect(services.readSlice(session, 'site', { filter })).rejects.toMatchObject(refusal);
  await expect(
    services.watchFeed(session.identity, { filter, signal: new AbortController().signal }),
  ).rejects.toMatchObject(refusal);
});

test('since and until go by the time the order goes by', async () => {
  await using parts = await openParts();
  const time = (days: number): Date => new Date(Date.UTC(2026, 0, 1) + days * DAY);
  const ids: string[] = [];
  for (const days of [1, 2, 3, 4]) {
    const { action } = await parts.publish({ mentions: ['ann'], scope: 'PUBLIC', conducted: time(days) });
    ids.push(action.id);
  }
  const [first, second, third, fourth] = ids;
  // The oldest stands on top by relevancy, and stays the oldest by time.
  await parts.services.recordInteraction(parts.session('ann'), {
    ...{ actionId: first ?? '', kind: 'COMMENT', at: time(10) },
  });
  await parts.fanOut();
  const shown = async (order: 'RELEVANCY' | 'RECENT' | 'TOP', filter: object): Promise<unknown[]> =>
    (await parts.services.readFeed(parts.session('ann'), { order, filter })).edges.map(
      ({ node }) => node.actionId,
    );
  const since = { since: time(3) };
  const until = { until: time(3) };
  expect(await shown('RELEVANCY', since)).toEqual([first, fourth, third]);
  expect(await shown('RELEVANCY', until)).toEqual([second]);
  expect(new Set(await shown('TOP', since))).toEqual(new Set([first, fourth, third]));
  expect(await shown('TOP', until)).toEqual([second]);
  expect(await shown('RECENT', since)).toEqual([fourth, third]);
  expect(await shown('RECENT', until)).toEqual([second, first]);
  expect(await shown('RECENT', { since: time(2), until: time(4) })).toEqual([third, second]);
});
