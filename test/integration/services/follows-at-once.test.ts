import { expect, test } from 'vitest';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const NUMBERS = Array.from({ length: 20 }, (_, n) => n);
const memberOf = (n: number): string => `member-${String(n)}`;
const siteOf = (n: number): string => `site-${String(n)}`;

/** Two actions of each of these sites, oldest first. */
async function publishTo(parts: Parts, refIds: readonly string[]): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>(refIds.map((id) => [id, []]));
  for (const id of [...refIds, ...refIds]) {
    const { action } = await parts.publish({ refs: [{ id, type: 'site', label: id }] });
    ids.get(id)?.push(action.id);
  }
  await parts.fanOut();
  return ids;
}

const followOf = (parts: Parts, userId: string, refId: string) =>
  parts.services.follow(parts.session(userId), refId, 10);

test('twenty members who follow at the same time take a third of the commands or less, each with an own outcome', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const ids = await publishTo(parts, NUMBERS.map(siteOf));
  // Their actions are cached by then.
  for (const n of NUMBERS) await followOf(parts, 'first', siteOf(n));
  const alone = await commandsOf(parts.database, () => followOf(parts, 'alone', siteOf(0)));
  expect(alone).toHaveLength(6);
  const together = await commandsOf(parts.database, async () => {
    const refs = await Promise.all(NUMBERS.map((n) => followOf(parts, memberOf(n), siteOf(n))));
    expect(refs.map(({ refId }) => refId)).toEqual(NUMBERS.map(siteOf));
    expect(refs.map(({ followerCount }) => followerCount)).toEqual(NUMBERS.map((n) => (n === 0 ? 3 : 2)));
  });
  expect(together.length).toBeLessThanOrEqual((NUMBERS.length * alone.length) / 3);
  for (const n of NUMBERS) expect(await parts.feedOf(memberOf(n))).toEqual(ids.get(siteOf(n))?.toReversed());
});

test('followers of one ref are all counted if they follow at the same time, and who follows twice once', async () => {
  await using parts = await openParts();
  const ids = await publishTo(parts, ['site', 'other']);
  // A call that another one left behind.
  const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
  const { follows, refs } = parts.repositories;
  await follows.open([{ followerId: 'cut off', refId: 'site', since: new Date(0) }], tokens);
  const members = [...NUMBERS.map(memberOf), memberOf(0), 'cut off'];
  const answers = await Promise.all([
    ...members.map((userId) => followOf(parts, userId, 'site')),
    followOf(parts, memberOf(1), 'other'),
  ]);
  expect(answers.every(({ followerCount }) => followerCount > 0)).toBe(true);
  expect(answers.at(-1)).toMatchObject({ refId: 'other', followerCount: 1 });
  const counts = (await refs.findByIds(['other', 'site'])).map((ref) => [ref.refId, ref.followerCount]);
  expect(new Map(counts as [string, number][])).toEqual(
    new Map([
      ['other', 1],
      ['site', NUMBERS.length + 1],
    ]),
  );
  const both = [...(ids.get('site') ?? []), ...(ids.get('other') ?? [])].sort();
  expect((await parts.feedOf(memberOf(1))).toSorted()).toEqual(both);
  for (const userId of [memberOf(0), memberOf(19), 'cut off'])
    expect(await parts.feedOf(userId)).toEqual(ids.get('site')?.toReversed());
  const pairs = members.map((followerId) => ({ followerId, refId: 'site' }));
  expect(await follows.unsettled(pairs)).toEqual([]);
});

test('of counts that are added to at the same time, only that of another epoch is refused', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { followerCounts, refs } = parts.repositories;
  const epochs = await followerCounts.epochs(['a', 'b']);
  const epoch = newObjectId();
  await followerCounts.begin('a', epoch);
  await followerCounts.end('a', epoch, 5);
  const recounted = await followerCounts.epochs(['a']);
  const commands = await commandsOf(parts.database, async () => {
    const outcomes = await Promise.all([
      followerCounts.add(new Map([['a', 1]]), epochs),
      followerCounts.add(new Map([['b', 1]]), epochs),
      followerCounts.add(new Map([['a', 1]]), recounted),
      followerCounts.add(new Map([['b', 1]]), epochs),
      followerCounts.add(new Map([['b', 1]]), new Map()),
    ]);
    expect(outcomes.map(({ refused, ref }) => [refused, ref?.refId, ref?.followerCount])).toEqual([
      [['a'], undefined, undefined],
      [[], 'b', 2],
      [[], 'a', 6],
      [[], 'b', 2],
      [['b'], undefined, undefined],
    ]);
  });
  expect(commands.map(({ name }) => name)).toEqual(['update', 'find']);
  const counts = (await refs.findByIds(['a', 'b'])).map((ref) => [ref.refId, ref.followerCount]);
  expect(counts.sort()).toEqual([
    ['a', 6],
    ['b', 2],
  ]);
});

test('feeds that are filled at the same time take one insert, each told which of its entries are new', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const entry = (actionId: string, day: number) => ({
    ...{ actionId, relevancy: new Date(Date.UTC(2030, 0, day)), reasons: ['FOLLOW'] as const },
  });
  const [a, b, c] = [newObjectId(), newObjectId(), newObjectId()];
  await parts.feedStore.fill('ann', [entry(a, 2), entry(b, 2)]);
  const commands = await commandsOf(parts.database, async () => {
    const added = await Promise.all([
      parts.feedStore.fill('ann', [entry(a, 3), entry(c, 2), entry(b, 1)]),
      parts.feedStore.fill('bob', [entry(a, 1)]),
      parts.feedStore.fill('ann', [entry(c, 2)]),
    ]);
    expect(added[1]).toEqual([a]);
    expect([...added[0], ...added[2]]).toEqual([c]);
  });
  expect(commands.filter(({ name }) => name === 'insert')).toHaveLength(1);
  const stored = await parts.feedStore.find('ann', [a, b, c]);
  const days = stored.map(({ actionId, relevancy }) => [actionId, relevancy.getUTCDate()] as const);
  expect(new Map(days)).toEqual(
    new Map([
      [a, 3],
      [b, 2],
      [c, 2],
    ]),
  );
});
