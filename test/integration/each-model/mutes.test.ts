import { expect, test } from 'vitest';
import type { MuteTargetInput } from '../../../src/core/shapes.ts';
import { openLiveList } from '../../support/live-list.ts';
import { letMuteEnd, muteEndsWorker } from '../../support/mute-ends.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someModels } from '../../support/some-models.ts';

const HOUR = 3_600_000;
const later = () => new Date(Date.now() + HOUR);
const ann = (parts: Parts) => parts.session('ann');

/** Ann gets all of it. */
async function published(parts: Parts, actorId: string, text: string, refId?: string): Promise<string> {
  const { action } = await parts.publish({
    ...{ actorId, scope: 'PUBLIC', mentions: ['ann'] },
    refs: refId === undefined ? [] : [{ id: refId, type: 'site', label: 'The North Gate' }],
    descriptor: { posted: { postId: 'p', text } },
  });
  return action.id;
}

/** What mutes the first of two actions and not the second. */
const TARGETS: readonly (readonly [string, MuteTargetInput])[] = [
  ['a member', { memberId: 'bob' }],
  ['a ref', { refId: 'gate' }],
  ['the ref of its actor', { refId: 'bob' }],
  ['a phrase of its text', { phrase: 'went  HO\u00adME' }],
  ['a phrase of a label', { phrase: 'north gate' }],
];

test.each(TARGETS)(
  'keeps actions with %s out of the feed, its counts and its groups, and restores them',
  async (_what, target) => {
    await using parts = await openParts();
    const first = await published(parts, 'bob', 'He went home, late', 'gate');
    const second = await published(parts, 'cid', 'Went to his home');
    await parts.fanOut();
    await parts.services.addMute(ann(parts), target, null);
    expect(await parts.feedOf('ann')).toEqual([second]);
    const page = await parts.services.readFeed(ann(parts), {});
    expect(await page.countUnread()).toEqual({ count: 1, isExact: true });
    expect(await page.countTotal()).toEqual({ count: 1, isExact: true });
    expect(await parts.services.countUnread(ann(parts))).toEqual({ count: 1, isExact: true });
    const groups = await parts.services.readFeedGroups(ann(parts), {});
    expect(groups.edges).toHaveLength(1);
    expect(await parts.services.getNewsfeedItem(ann(parts), first)).toBeNull();
    expect(await parts.services.explainFeedItem(ann(parts), first, null)).toMatchObject({
      ...{ isInFeed: false, isEntitled: true, withheldBy: ['MUTED'] },
    });
    expect(await parts.services.getAction(ann(parts), first)).not.toBeNull();
    await parts.services.removeMute(ann(parts), target);
    expect(await parts.feedOf('ann')).toEqual([second, first]);
  },
);

test('keeps the actions of a type out of the feed', async () => {
  await using parts = await openParts();
  const post = await published(parts, 'bob', 'Home');
  const { action } = await parts.publish({ actorId: 'bob', mentions: ['ann'] });
  await parts.fanOut();
  await parts.services.addMute(ann(parts), { type: 'Posted' }, null);
  expect(await parts.feedOf('ann')).toEqual([action.id]);
  await parts.services.removeMute(ann(parts), { type: 'Posted' });
  expect(await parts.feedOf('ann')).toEqual([action.id, post]);
});

test('shows the comments of a muted member', async () => {
  await using parts = await openParts();
  const id = await published(parts, 'cid', 'Home');
  await parts.services.addInteraction(parts.session('bob'), { actionId: id, kind: 'COMMENT', text: 'Rain' });
  await parts.fanOut();
  for (const target of [{ memberId: 'bob' }, { phrase: 'rain' }])
    await parts.services.addMute(ann(parts), target, null);
  const { edges } = await parts.services.readFeed(ann(parts), {});
  expect(edges.map(({ node }) => node.action.engagement.comments)).toEqual([1]);
});

test.each(someModels(0))(
  'ends by the clock, whether a worker runs or not, feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model });
    const id = await published(parts, 'bob', 'Went home');
    await parts.feedOf('ann');
    await parts.fanOut();
    for (const [kind, value, target] of [
      ['MEMBER', 'bob', { memberId: 'bob' }],
      ['PHRASE', 'went home', { phrase: 'Went home' }],
    ] as const) {
      await parts.services.addMute(ann(parts), target, later());
      expect(await parts.feedOf('ann')).toEqual([]);
      await letMuteEnd(parts, 'ann', { kind, value });
      expect(await parts.feedOf('ann')).toEqual([id]);
      expect((await ann(parts).profile()).mutes.list).toEqual([]);
    }
  },
);

test('adding a mute again replaces its end', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const list = async () =>
    (await ann(parts).profile()).mutes.list.map(({ kind, value, text, until }) => [kind, value, text, until]);
  const until = later();
  await services.addMute(ann(parts), { memberId: 'bob' });
  expect(await list()).toEqual([['MEMBER', 'bob', null, null]]);
  await services.addMute(ann(parts), { memberId: 'bob' }, until);
  expect(await list()).toEqual([['MEMBER', 'bob', null, until]]);
  await services.addMute(ann(parts), { phrase: 'Rain, rain' }, until);
  await services.addMute(ann(parts), { phrase: 'RAIN RAIN' }, null);
  await services.addMute(ann(parts), { type: 'Custom' }, null);
  await services.addMute(ann(parts), { refId: 'bob' }, null);
  await services.addMute(ann(parts), { memberId: 'bob' });
  expect(await list()).toEqual([
    ['MEMBER', 'bob', null, null],
    ['REF', 'bob', null, null],
    ['TYPE', 'Custom', null, null],
    ['PHRASE', 'rain rain', 'RAIN RAIN', null],
  ]);
  await services.addMute(ann(parts), { memberId: 'bob' }, until);
  await services.removeMute(ann(parts), { memberId: 'bob' });
  await services.removeMute(ann(parts), { phrase: 'rain  rain' });
  await services.removeMute(ann(parts), { phrase: 'snow' });
  expect((await list()).map(([kind]) => kind)).toEqual(['REF', 'TYPE']);
  expect(await parts.database.collections.feeds.findOne({ _id: 'ann' })).not.toHaveProperty('muteEnd');
});

test('an id may begin with a dollar sign', async () => {
  await using parts = await openParts();
  for (const target of [{ memberId: '$$NOW' }, { refId: '$value' }, { phrase: '$mutes' }])
    for (const until of [later(), null]) await parts.services.addMute(ann(parts), target, until);
  const { list } = (await ann(parts).profile()).mutes;
  expect(list.map(({ value, text }) => text ?? value)).toEqual(['$$NOW', '$value', '$mutes']);
});

test('a reader has at most a thousand mutes, fifty of them phrases, not counting ended ones', async () => {
  await using parts = await openParts();
  const { feeds } = parts.database.collections;
  const add = (target: MuteTargetInput) => parts.services.addMute(ann(parts), target, null);
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  await feeds.insertOne({
    _id: 'ann',
    mutes: [
      ...Array.from({ length: 949 }, (_, n) => ({ kind: 'MEMBER' as const, value: `m${String(n)}` })),
      ...numbers.map((n) => ({ kind: 'PHRASE' as const, value: `w${String(n)}`, text: 'w' })),
    ],
  });
  await expect(add({ phrase: 'one more' })).rejects.toMatchObject({ code: 'CONFLICT' });
  await add({ phrase: 'W7' });
  await add({ refId: 'the thousandth' });
  for (const target of [{ refId: 'one more' }, { memberId: 'one more' }])
    await expect(add(target)).rejects.toMatchObject({ code: 'CONFLICT' });
  await add({ memberId: 'm7' });
  await add({ refId: 'the thousandth' });
  await letMuteEnd(parts, 'ann', { kind: 'PHRASE', value: 'w3' });
  await add({ phrase: 'one more' });
  expect((await ann(parts).profile()).mutes.list).toHaveLength(1_000);
});

test.each<[string, MuteTargetInput, Date | null, readonly string[], RegExp]>([
  ['nothing', {}, null, ['target'], /exactly one/],
  ['two things', { refId: 'a', type: 'Custom' }, null, ['target'], /exactly one/],
  ['oneself', { memberId: 'ann' }, null, ['target', 'memberId'], /somebody else/],
  ['an empty id', { refId: '' }, null, ['target', 'refId'], /empty/],
  ['a type that nobody declares', { type: 'Sneezed' }, null, ['target', 'type'], /Unknown type/],
  ['no words', { phrase: ' 🎉 ' }, null, ['target', 'phrase'], /at least one word/],
  ['six words', { phrase: 'a b c d e f' }, null, ['target', 'phrase'], /at most 5 words/],
  ['a long phrase', { phrase: 'a'.repeat(101) }, null, ['target', 'phrase'], /100 characters/],
  ['an end that has been', { refId: 'a' }, new Date(0), ['until'], /later than now/],
  ['an end that is no time', { refId: 'a' }, new Date(NaN), ['until'], /later than now/],
])('rejects muting %s', async (_what, target, until, path, message) => {
  await using parts = await openParts();
  await expect(parts.services.addMute(ann(parts), target, until)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ path, message: expect.stringMatching(message) as string }],
  });
  expect(await parts.database.collections.feeds.countDocuments()).toBe(0);
});

test('sends FeedResync when a mute is added, removed, and ends: once for all workers', async () => {
  await using parts = await openParts();
  const id = await published(parts, 'bob', 'Went home');
  await parts.fanOut();
  await using list = await openLiveList(parts, ann(parts).identity);
  const shown = async (): Promise<string[]> => {
    await list.caughtUp();
    return [...list.shown.keys()];
  };
  await parts.services.addMute(ann(parts), { phrase: 'home' }, null);
  expect(await shown()).toEqual([]);
  await parts.services.removeMute(ann(parts), { phrase: 'home' });
  expect(await shown()).toEqual([id]);
  await parts.services.addMute(ann(parts), { refId: 'bob' }, later());
  await parts.services.addInteraction(parts.session('cid'), { actionId: id, kind: 'COMMENT', text: 'Rain' });
  await parts.fanOut();
  expect(await shown()).toEqual([]);
  const workers = [muteEndsWorker(parts), muteEndsWorker(parts)];
  const round = () => Promise.all(workers.map((worker) => worker.round(new Date())));
  await round();
  expect(await shown()).toEqual([]);
  await letMuteEnd(parts, 'ann', { kind: 'REF', value: 'bob' });
  await round();
  await round();
  expect(await shown()).toEqual([id]);
  expect(list.resyncs).toEqual(['mutes', 'mutes', 'mutes', 'mutes']);
  expect(list.events.filter(({ kind }) => kind === 'added' || kind === 'updated')).toEqual([]);
  expect(await parts.database.collections.feeds.findOne({ _id: 'ann' })).not.toHaveProperty('mutes');
});

test('an end that a worker claimed but did not announce is announced after its lease', async () => {
  await using parts = await openParts();
  await parts.services.addMute(ann(parts), { refId: 'bob' }, later());
  await using list = await openLiveList(parts, ann(parts).identity);
  await letMuteEnd(parts, 'ann', { kind: 'REF', value: 'bob' });
  const { feedMutes } = parts.repositories;
  const at = new Date();
  expect(await feedMutes.claimMuteEnds({ token: 'died', now: at, leaseMs: 30_000 }, 10)).toEqual(['ann']);
  await muteEndsWorker(parts).round(at);
  await list.caughtUp();
  expect(list.resyncs).toEqual([]);
  await muteEndsWorker(parts).round(new Date(at.getTime() + 31_000));
  await list.caughtUp();
  expect(list.resyncs).toEqual(['mutes']);
});

test('an edit that makes a mute match removes the item from watchers', async () => {
  await using parts = await openParts();
  const texts = ['Went home', 'Went away'];
  const ids = [];
  for (const text of texts) ids.push(await published(parts, 'bob', text));
  await parts.fanOut();
  await parts.services.addMute(ann(parts), { phrase: 'went home' }, null);
  await using list = await openLiveList(parts, ann(parts).identity);
  expect([...list.shown.keys()]).toEqual([ids[1]]);
  for (const [n, id] of ids.entries())
    await parts.services.updateAction(parts.session('bob'), id, {
      descriptor: { posted: { postId: 'p', text: texts[1 - n] } },
    });
  await parts.fanOut();
  await list.caughtUp();
  expect([...list.shown.keys()]).toEqual([ids[0]]);
  expect(await parts.feedOf('ann')).toEqual([ids[0]]);
});
