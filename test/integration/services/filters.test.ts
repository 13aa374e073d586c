import { expect, test } from 'vitest';
import { openParts } from '../../support/parts.ts';

const DAY = 86_400_000;

test('an unknown type in a filter is rejected, in lists, slices and subscriptions, and the known ones are listed', async () => {
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

test('since and until use the time of the order', async () => {
  await using parts = await openParts();
  const time = (days: number): Date => new Date(Date.UTC(2026, 0, 1) + days * DAY);
  const ids: string[] = [];
  for (const days of [1, 2, 3, 4]) {
    const { action } = await parts.publish({ mentions: ['ann'], scope: 'PUBLIC', conducted: time(days) });
    ids.push(action.id);
  }
  const [first, second, third, fourth] = ids;
  // The oldest stands on top by relevancy, and stays the oldest by time.
  await parts.services.addInteraction(parts.session('ann', 'admin'), {
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

function rating(raterId: string, applicantId: string): object {
  return {
    actorId: raterId,
    scope: 'PUBLIC',
    refs: [{ id: applicantId, type: 'applicant', label: applicantId }],
    descriptor: {
      applicationRating: {
        ...{ raterId, raterName: raterId, applicantId, applicantName: applicantId },
        ...{ positionId: 'p', positionName: 'p', ratingScore: 1 },
      },
    },
  };
}

test('actions are found by an indexed field of their type, in slices and among all', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const inputs = [rating('john', 'mary'), rating('jane', 'mary'), rating('john', 'tom')];
  const ids: string[] = [];
  for (const input of inputs) ids.push((await parts.publish(input)).action.id);
  const [maryByJohn, , tomByJohn] = ids;
  const filter = { descriptor: { field: 'raterId', value: 'john' } };
  const service = parts.session('host', 'service');
  const all = await services.listActions(service, { filter });
  expect(all.edges.map(({ node }) => node.id)).toEqual([tomByJohn, maryByJohn]);
  expect(await all.countTotal()).toEqual({ count: 2, isExact: true });
  const first = await services.listActions(service, { filter, first: 1 });
  const second = await services.listActions(service, { filter, first: 1, after: first.end });
  expect([...first.edges, ...second.edges].map(({ node }) => node.id)).toEqual([tomByJohn, maryByJohn]);
  expect([first.hasMore, second.hasMore]).toEqual([true, false]);
  const slice = await services.readSlice(parts.session('ann'), 'mary', { filter });
  expect(slice.edges.map(({ node }) => node.id)).toEqual([maryByJohn]);
  const others = { ...filter, types: ['Liked'] };
  expect((await services.listActions(service, { filter: others })).edges).toEqual([]);
});

test.each([
  [
    { field: 'ratingText', value: 'x' },
    'filter.descriptor.field: "ratingText" is not an indexed field; indexed are raterId',
  ],
  [{ field: '__proto__', value: 'x' }, 'filter.descriptor.field: "__proto__" is not an indexed field'],
  [{ field: 'raterId', value: '' }, 'filter.descriptor.value: Must not be empty'],
])('a filter by the field %j is rejected', async (descriptor, message) => {
  await using parts = await openParts();
  const refused = { code: 'BAD_USER_INPUT', message: expect.stringContaining(message) as string };
  const { services } = parts;
  const filter = { descriptor };
  await expect(services.readSlice(parts.session('ann'), 'mary', { filter })).rejects.toMatchObject(refused);
  await expect(services.listActions(parts.session('host', 'service'), { filter })).rejects.toMatchObject(
    refused,
  );
});
