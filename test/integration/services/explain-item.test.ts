import { expect, test } from 'vitest';
import type { FeedItemExplanation } from '../../../src/domain/explanation.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const DAY_MS = 86_400_000;
const SITE = { id: 'site', type: 'site', label: 'Site' };
const admin = (parts: Parts): ReaderSession => parts.session('admin', 'admin');

async function published(parts: Parts, input: object = {}): Promise<string> {
  const { action } = await parts.publish({ scope: 'PUBLIC', refs: [SITE], ...input });
  await parts.fanOut();
  return action.id;
}

function why(parts: Parts, id: string, who = 'ann'): Promise<FeedItemExplanation> {
  return parts.services.explainFeedItem(parts.session(who), id, null);
}

test('lists every way in which an action is addressed, since when and until when', async () => {
  await using parts = await openParts();
  const { services } = parts;
  await services.upsertMembers(parts.service, [
    { memberId: 'actor', name: 'Actor', teamId: 't' },
    { memberId: 'ann', name: 'Ann', teamId: 't' },
  ]);
  await services.follow(parts.session('ann'), 'site', 0);
  const id = await published(parts, { mentions: ['ann'] });
  await services.unfollow(parts.session('ann'), 'site', true);
  const { addressedBy, ...rest } = await why(parts, id);
  expect(rest).toMatchObject({ isInFeed: true, isEntitled: true, withheldBy: [], path: 'STORED' });
  expect(addressedBy).toEqual([
    { reason: 'MENTION', via: null, since: null, until: null },
    { reason: 'FOLLOW', via: 'site', since: expect.any(Date) as Date, until: expect.any(Date) as Date },
  ]);
  const forTeam = await published(parts, { scope: 'TEAM' });
  expect(await why(parts, forTeam)).toMatchObject({
    addressedBy: [{ reason: 'TEAM', via: 't', since: expect.any(Date) as Date, until: null }],
  });
});

test('lists everything that withholds an action, at once', async () => {
  await using parts = await openParts();
  const { services } = parts;
  await services.follow(parts.session('ann'), 'site', 0);
  const id = await published(parts);
  await services.addMute(parts.session('ann'), { memberId: 'actor' });
  expect(await why(parts, id)).toMatchObject({ isInFeed: false, withheldBy: ['MUTED'], path: 'STORED' });
  await services.archiveFeedItem(parts.session('ann'), id);
  expect((await why(parts, id)).withheldBy).toEqual(['MUTED', 'ARCHIVED']);
  await services.hideFeedItem(parts.session('ann'), id);
  await services.removeMute(parts.session('ann'), { memberId: 'actor' });
  expect((await why(parts, id)).withheldBy).toEqual(['HIDDEN_BY_READER']);
  expect(await why(parts, id, 'bob')).toMatchObject({
    ...{ isInFeed: false, isEntitled: true, addressedBy: [], relevancy: null },
    ...{ withheldBy: ['NOT_ADDRESSED'], path: 'NONE', score: null, scoreVars: null },
  });
});

test('lists nothing for an action that is not delivered yet', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const { action } = await parts.publish({ refs: [SITE], scope: 'PUBLIC' });
  expect(await why(parts, action.id)).toMatchObject({
    ...{ isInFeed: false, withheldBy: [], path: 'NONE' },
    addressedBy: [{ reason: 'FOLLOW', via: 'site' }],
  });
});

test('explains to admins for any member, also hidden or invisible actions, and to nobody else', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const id = await published(parts, { scope: 'RESTRICTED', recipients: ['ann'] });
  const ofBob = (session: ReaderSession) => services.explainFeedItem(session, id, 'bob');
  expect(await ofBob(admin(parts))).toMatchObject({
    ...{ isInFeed: false, isEntitled: false, withheldBy: ['NOT_ADDRESSED', 'NOT_ENTITLED'] },
  });
  for (const session of [parts.session('ann'), parts.session('service', 'service')])
    await expect(ofBob(session)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(why(parts, id, 'bob')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await services.hideAction(admin(parts), id, null);
  await expect(why(parts, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await services.explainFeedItem(admin(parts), id, 'ann')).toMatchObject({
    ...{ isInFeed: false, isEntitled: false, withheldBy: ['HIDDEN'] },
    addressedBy: [{ reason: 'RECIPIENT' }],
  });
  await services.deleteAction(admin(parts), id);
  await expect(services.explainFeedItem(admin(parts), id, 'ann')).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await expect(services.explainFeedItem(admin(parts), id, '')).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

test('lists what boosts an item, the highest first, also removed interactions', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const conducted = new Date(Date.now() - 10 * DAY_MS);
  const id = await published(parts, { conducted, mentions: ['ann'] });
  await services.follow(parts.session('bob'), 'site', 5);
  await services.addInteraction(parts.session('cid'), { actionId: id, kind: 'LIKE' });
  await services.removeInteraction(parts.session('cid'), { own: { actionId: id, kind: 'LIKE' } });
  await parts.fanOut();
  const [like, base] = (await why(parts, id)).causes;
  expect(like).toMatchObject({ kind: 'LIKE', liftedTo: like?.at });
  expect(base).toEqual({ kind: 'CONDUCTED', at: conducted, liftedTo: conducted });
  const ofBob = await why(parts, id, 'bob');
  expect(ofBob.relevancy).toEqual(ofBob.causes[0]?.liftedTo);
  expect(ofBob.causes[0]?.liftedTo.getTime()).toBeLessThan(like?.at.getTime() ?? 0);
});

test('lists a limited number of causes', async () => {
  await using parts = await openParts();
  const id = await published(parts, { conducted: new Date(Date.now() - DAY_MS), mentions: ['ann'] });
  for (let n = 0; n < 60; n += 1)
    await parts.services.addInteraction(parts.session(`m${String(n)}`), { actionId: id, kind: 'LIKE' });
  await parts.fanOut();
  const { causes, relevancy } = await why(parts, id);
  expect(causes).toHaveLength(51);
  expect(causes[0]?.liftedTo).toEqual(relevancy);
  expect(causes.at(-1)?.kind).toBe('CONDUCTED');
});

test.each([
  ['STORED', {}],
  ['SOURCE', { model: 'pull' }],
  ['SOURCE', { cap: 1 }],
] as const)('says that the feed has an item from %s with %j', async (path, options) => {
  await using parts = await openParts(options);
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const id = await published(parts, { conducted: new Date(Date.now() - DAY_MS) });
  for (let n = 0; n < 3; n += 1) await published(parts);
  expect(await parts.feedOf('ann')).toContain(id);
  expect(await why(parts, id)).toMatchObject({ isInFeed: true, path });
});

test('says that the feed looks up a pulled action', async () => {
  await using parts = await openParts();
  await parts.services.follow(parts.session('ann'), 'site', 0);
  await parts.database.collections.refs.updateOne(
    { _id: 'site' },
    { $set: { isPulled: true, pullSince: new Date(0) } },
    { upsert: true },
  );
  await using later = await parts.reopen({ pullRefreshMs: 0 });
  const id = await published(later);
  const shown = await later.feedOf('ann');
  const { path, isInFeed, addressedBy } = await why(later, id);
  expect([shown.includes(id), isInFeed]).toEqual([true, true]);
  expect([path, addressedBy[0]?.reason]).toEqual(['PULLED', 'PULL']);
});

test('returns the score of the order TOP, and its components', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const id = await published(parts, { mentions: ['ann'] });
  await services.addInteraction(parts.session('ann'), { actionId: id, kind: 'LIKE' });
  await parts.fanOut();
  await parts.rescore();
  const { score, scoreVars } = await why(parts, id);
  expect(scoreVars).toMatchObject({ isScored: expect.any(Boolean) as boolean, interactionsWithActor: 0 });
  expect(score).toBeGreaterThan(0);
  const old = await published(parts, { mentions: ['ann'], conducted: new Date(Date.now() - 3 * DAY_MS) });
  expect(await why(parts, old)).toMatchObject({ isInFeed: true, score: null, scoreVars: null });
});
