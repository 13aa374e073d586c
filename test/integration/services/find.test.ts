import { expect, test } from 'vitest';
import type { FeedFilter } from '../../../src/core/shapes.ts';
import { openLiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someModels } from '../../support/some-models.ts';

const SITE = { id: 'site', type: 'site', label: 'North Wing' };
const posted = (text: string, tags: string[] = []) => ({ posted: { postId: 'p', text, tags } });

async function publish(parts: Parts, text: string, more: object = {}): Promise<string> {
  const input = { actorId: 'bob', refs: [SITE], descriptor: posted(text), ...more };
  return (await parts.publish(input)).action.id;
}

/** Ann follows a thing that Bob Öztürk writes about. */
async function openScene(parts: Parts): Promise<Readonly<Record<'roof' | 'tagged' | 'other', string>>> {
  await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Bob Öztürk' }]);
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const roof = await publish(parts, 'The STRASSE to the roof’s end is closed');
  const tagged = await publish(parts, 'Something', { descriptor: posted('Something', ['Fire-Drill']) });
  const other = await publish(parts, 'Nothing to see', { actorId: 'cem' });
  await parts.fanOut();
  return { roof, tagged, other };
}

async function found(parts: Parts, filter: FeedFilter, more: object = {}): Promise<string[]> {
  const page = await parts.services.readFeed(parts.session('ann'), { filter, ...more });
  return page.edges.map(({ node }) => node.actionId);
}

test.each(someModels(1))(
  'finds words in texts, tags, names and sentences, feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model });
    const { roof, tagged, other } = await openScene(parts);
    for (const [text, ids] of [
      ['straße CLOSED', [roof]],
      ["roof's", [roof]],
      ['end ro', [roof]],
      // Only the last word may be the beginning of one.
      ['ro end', []],
      ['closed, nothing', []],
      ['drill fire', [tagged]],
      ['öztürk som', [tagged]],
      ['north wing', [other, tagged, roof]],
      // Of the sentence.
      ['Bob Öztürk posted', [tagged, roof]],
    ] as const)
      for (const order of ['RELEVANCY', 'RECENT', 'TOP'] as const)
        expect({ text, order, ids: await found(parts, { text }, { order }) }).toEqual({ text, order, ids });
    expect(await found(parts, { text: 'wing', actorIds: ['cem'] })).toEqual([other]);
    expect(await found(parts, { text: 'wing', not: { actorIds: ['cem'] } }, { first: 1 })).toEqual([tagged]);
  },
);

test('pages go on down and up, and counts, groups and lists of actions go by the same words', async () => {
  await using parts = await openParts();
  const { roof, tagged, other } = await openScene(parts);
  const { services, session } = parts;
  const filter = { text: 'wing' };
  const first = await services.readFeed(session('ann'), {
    filter,
    first: 2,
    withTotal: true,
    withUnread: true,
  });
  expect(first.edges.map(({ node }) => node.actionId)).toEqual([other, tagged]);
  expect([await first.countTotal(), await first.countUnread()]).toEqual([
    { count: 3, isExact: true },
    { count: 3, isExact: true },
  ]);
  const after = first.edges.at(-1)?.cursor;
  expect(await found(parts, filter, { first: 2, after })).toEqual([roof]);
  expect(await found(parts, filter, { last: 1, before: after })).toEqual([other]);
  const groups = await services.readFeedGroups(session('ann'), { filter: { text: 'straße' } });
  expect(groups.edges).toHaveLength(1);
  expect(await found(parts, { ...filter, unreadOnly: true })).toEqual([other, tagged, roof]);
  await services.archiveFeedItem(session('ann'), roof);
  expect(await found(parts, { text: 'closed', archived: true })).toEqual([roof]);
  expect(await found(parts, { text: 'drill', archived: true })).toEqual([]);
  const slice = await services.readSlice(session('ann'), 'site', { filter: { text: 'some' } });
  expect(slice.edges.map(({ node }) => node.id)).toEqual([tagged]);
  expect(await slice.countTotal()).toEqual({ count: 1, isExact: true });
  const admin = session('root', 'admin');
  const all = await services.listActions(admin, { filter: { text: 'öztürk' }, first: 1 });
  expect(all.edges.map(({ node }) => node.id)).toEqual([tagged]);
  const rest = await services.listActions(admin, { filter: { text: 'öztürk' }, after: all.edges[0]?.cursor });
  expect(rest.edges.map(({ node }) => node.id)).toEqual([roof]);
});

test('watchers are sent what has the words, and what loses them by an edit leaves', async () => {
  await using parts = await openParts();
  await openScene(parts);
  await using list = await openLiveList(parts, parts.session('ann').identity, { filter: { text: 'smoke' } });
  const id = await publish(parts, 'Smoke in the hall');
  await publish(parts, 'All clear');
  await parts.fanOut();
  await list.caughtUp();
  expect([...list.shown.keys()]).toEqual([id]);
  await parts.services.updateAction(parts.session('bob'), id, { descriptor: posted('Steam in the hall') });
  await parts.fanOut();
  await list.caughtUp();
  expect([...list.shown.keys()]).toEqual([]);
});

test('a new name of the actor is found at once', async () => {
  await using parts = await openParts();
  const { roof, tagged } = await openScene(parts);
  await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Robert Berg' }]);
  expect(await found(parts, { text: 'robert' })).toEqual([tagged, roof]);
  expect(await found(parts, { text: 'öztürk' })).toEqual([]);
});

test.each([
  ['nothing', ''],
  ['no word', '…!?'],
  ['nine words', 'a b c d e f g h i'],
  ['too many characters', 'x'.repeat(101)],
  ['characters that become many', 'ﷺ'.repeat(50)],
])('rejects %s', async (_what, text) => {
  await using parts = await openParts();
  const { services, session } = parts;
  const refused = { code: 'BAD_USER_INPUT', issues: [{ path: ['filter', 'text'] }] };
  await expect(found(parts, { text })).rejects.toMatchObject(refused);
  await expect(services.readSlice(session('ann'), 'site', { filter: { text } })).rejects.toMatchObject(
    refused,
  );
});

test('it looks at the newest thousand, and says when there are more', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const oldest = await publish(parts, 'Needle below');
  const input = { actorId: 'bob', refs: [SITE], descriptor: posted('Hay') };
  for (let done = 0; done < 999; done += 333)
    await parts.services.publishActions(
      parts.service,
      Array.from({ length: 333 }, () => input),
    );
  await parts.fanOut();
  const total = async (text: string) => {
    const page = await parts.services.readFeed(parts.session('ann'), { filter: { text }, withTotal: true });
    return [page.edges.length, page.hasMore, await page.countTotal()];
  };
  const slice = async (text: string) => {
    const page = await parts.services.readSlice(parts.session('ann'), 'site', { filter: { text } });
    return [page.edges.length, page.hasMore, await page.countTotal()];
  };
  expect(await found(parts, { text: 'needle' })).toEqual([oldest]);
  for (const of of [total, slice])
    expect(await of('needle')).toEqual([1, false, { count: 1, isExact: true }]);
  await publish(parts, 'One more');
  await parts.fanOut();
  for (const of of [total, slice])
    expect(await of('needle')).toEqual([0, false, { count: 0, isExact: false }]);
});
