import { afterEach, beforeEach, expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { crashingCollections } from '../../support/crashing.ts';
import { eventsOf, moveEvents } from '../../support/events.ts';
import { letMuteEnd } from '../../support/mute-ends.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { recordFirstDelivery } from '../../../src/fan-out/record-delivered.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { claimOne } from '../../support/claim-one.ts';

let parts: Parts;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true, dormantAfterMs: 1 });
});
afterEach(async () => parts[Symbol.asyncDispose]());

/** Whom hosts were told of, with reasons; more than once where it was told more than once. */
async function delivered(): Promise<string[]> {
  await moveEvents(parts.database.collections);
  return (await eventsOf(parts))
    .filter(({ type }) => type === 'item.delivered')
    .flatMap(({ facts }) => facts.readers ?? [])
    .map(({ memberId, reasons }) => `${memberId} ${reasons.join('+')}`)
    .sort();
}

test('names the readers an action is delivered to and why, including dormant ones', async () => {
  await parts.services.followMany(parts.service, [{ followerId: 'bob', refId: 'actor' }]);
  // Has read once, long ago.
  await parts.feedOf('bob');
  await parts.publish({ mentions: ['ann', 'bob'] });
  await parts.fanOut();
  expect(await delivered()).toEqual(['ann MENTION', 'bob MENTION+FOLLOW']);
});

test('names no reader again when an action is bumped, hidden and shown again, or rebuilt into a feed', async () => {
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann'] });
  await parts.fanOut();
  await parts.services.addInteraction(parts.session('bob'), { actionId: action.id, kind: 'LIKE' });
  await parts.fanOut();
  const admin = parts.session('admin', 'admin');
  await parts.services.hideAction(admin, action.id, null);
  await parts.services.unhideAction(admin, action.id);
  await parts.services.rebuildFeed(parts.admin, 'ann');
  await parts.services.follow(parts.session('cid'), 'actor', 10);
  await parts.fanOut();
  expect(await delivered()).toEqual(['ann MENTION']);
});

test('names readers who gain an action by an edit, and nobody who has or had it', async () => {
  const { services, session, service } = parts;
  const admin = session('admin', 'admin');
  await services.followMany(service, [
    { followerId: 'fay', refId: 'site' },
    { followerId: 'ann', refId: 'site' },
    { followerId: 'gus', refId: 'actor' },
  ]);
  const { action } = await parts.publish({ scope: 'FOLLOWERS', mentions: ['ann', 'bob'] });
  await parts.fanOut();
  const before = ['ann MENTION', 'bob MENTION', 'gus FOLLOW'];
  expect(await delivered()).toEqual(before);
  const site = { id: 'site', type: 'site', label: 'Site' };
  // Ann is not named any more, and reached by the site from now on.
  await services.updateAction(admin, action.id, { refs: [site], mentions: ['bob', 'cid'] });
  await parts.fanOut();
  const after = [...before, 'cid MENTION', 'fay FOLLOW'].sort();
  expect(await delivered()).toEqual(after);
  await services.addInteraction(session('bob'), { actionId: action.id, kind: 'LIKE' });
  await services.updateAction(admin, action.id, { expiresAt: null });
  await parts.fanOut();
  expect(await delivered()).toEqual(after);
});

test('names readers who gain an action by a reshare, once for all resharers', async () => {
  const { services, session, service } = parts;
  await services.followMany(service, [
    { followerId: 'ann', refId: 'actor' },
    { followerId: 'ann', refId: 'bob' },
    { followerId: 'fay', refId: 'bob' },
    { followerId: 'fay', refId: 'cid' },
    { followerId: 'gus', refId: 'cid' },
  ]);
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await parts.fanOut();
  for (const by of ['bob', 'cid']) {
    await services.addInteraction(session(by), { actionId: action.id, kind: 'RESHARE' });
    await parts.fanOut();
    await services.addInteraction(session('eve'), { actionId: action.id, kind: 'COMMENT' });
    await parts.fanOut();
  }
  expect(await delivered()).toEqual(['ann FOLLOW', 'fay RESHARE', 'gus RESHARE']);
});

test.each([
  ['while the first pass was under way', true],
  ['before it began', false],
])('names each reader once of an action that others gained by an edit %s', async (_when, isUnderWay) => {
  const { action } = await parts.publish({ mentions: ['ann', 'bob', 'cid'] });
  const edit = (): Promise<unknown> =>
    parts.services.updateAction(parts.session('admin', 'admin'), action.id, {
      mentions: ['ann', 'bob', 'cid', 'dan'],
    });
  const { fanOuts } = parts.repositories;
  const now = clock.now();
  const claim = isUnderWay ? await claimOne(fanOuts, 'first', now, 60_000) : null;
  await edit();
  if (claim !== null) {
    const chunk = claim.action.mentions.map((userId) => ({ userId, reasons: ['MENTION' as const] }));
    await recordFirstDelivery(parts.repositories, [{ action: claim.action, chunk }]);
    expect(await fanOuts.passOn(claim, { delivered: 3, notBefore: now })).toBe(true);
  }
  await parts.fanOut();
  expect(await delivered()).toEqual(['ann MENTION', 'bob MENTION', 'cid MENTION', 'dan MENTION']);
});

test('names the readers of an action hidden before its first delivery once it is shown', async () => {
  const { action } = await parts.publish({ mentions: ['ann'] });
  const admin = parts.session('admin', 'admin');
  await parts.services.hideAction(admin, action.id, null);
  await parts.fanOut();
  expect(await delivered()).toEqual([]);
  await parts.services.unhideAction(admin, action.id);
  await parts.fanOut();
  expect(await delivered()).toEqual(['ann MENTION']);
});

test('names the readers of an action that was bumped before its first delivery', async () => {
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann'] });
  await parts.services.addInteraction(parts.session('bob'), { actionId: action.id, kind: 'LIKE' });
  await parts.fanOut();
  expect(await delivered()).toEqual(['ann MENTION']);
});

test('names nobody for imported and bulk actions', async () => {
  const input = { actorId: 'actor', mentions: ['ann'], descriptor: { posted: { postId: 'p' } } };
  await parts.services.publishActions(parts.service, [input], { isBulk: true });
  await parts.services.publishActions(
    parts.service,
    Array.from({ length: 30 }, () => input),
  );
  await parts.fanOut();
  expect(await delivered()).toHaveLength(30);
});

test('omits readers who mute the actor or have hidden, archived or snoozed the action', async () => {
  await parts.services.addMute(parts.session('ann'), { memberId: 'actor' });
  const { action } = await parts.publish({ scope: 'PUBLIC', mentions: ['ann', 'bob', 'cid'] });
  await parts.services.follow(parts.session('bob'), 'actor', 10);
  await parts.services.hideFeedItem(parts.session('bob'), action.id);
  await parts.fanOut();
  expect(await delivered()).toEqual(['cid MENTION']);
});

test('omits readers who mute the action in another way, until the mute ends', async () => {
  const { services, session } = parts;
  const later = new Date(Date.now() + 3_600_000);
  await services.addMute(session('ann'), { memberId: 'actor' }, later);
  await services.addMute(session('bob'), { refId: 'site' }, null);
  await services.addMute(session('cid'), { phrase: 'gate' }, null);
  await services.addMute(session('dan'), { type: 'Custom' }, null);
  await services.addMute(session('eve'), { phrase: 'north' }, null);
  await services.addMute(session('fay'), { memberId: 'actor' }, later);
  await letMuteEnd(parts, 'fay', { kind: 'MEMBER', value: 'actor' });
  await parts.publish({
    mentions: ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gus'],
    refs: [{ id: 'site', type: 'site', label: 'The gate' }],
  });
  await parts.fanOut();
  expect(await delivered()).toEqual(['eve MENTION', 'fay MENTION', 'gus MENTION']);
});

test('names readers in events of a thousand', async () => {
  const { action } = await parts.publish({});
  const everybody = Array.from({ length: 2_500 }, (_, n) => ({
    userId: `r${String(n).padStart(4, '0')}`,
    reasons: ['FOLLOW' as const],
  }));
  for (let times = 0; times < 2; times++)
    await recordFirstDelivery(parts.repositories, [{ action, chunk: everybody }]);
  expect(await delivered()).toHaveLength(2_500);
  expect((await eventsOf(parts)).filter(({ type }) => type === 'item.delivered')).toHaveLength(3);
});

test('names every reader at least once, whatever process dies during a delivery', async () => {
  const readers = Array.from({ length: 9 }, (_, n) => `r${String(n)}`);
  for (let writes = 1; writes <= 25; writes++) {
    const { action } = await parts.publish({ mentions: readers });
    const dying = createRepositories(crashingCollections(parts.database.collections, writes), {
      recordsEvents: true,
    });
    {
      await using worker = parts.worker({}, { ...dying, chunkSize: 3, leaseMs: 1 });
      worker.start();
      await expect
        .poll(async () => {
          const found = await parts.repositories.actions.findByIds([action.id]);
          return found[0]?.fanOut.state;
        })
        .not.toBe('PENDING');
    }
    // A later move between the two attempts must make no difference.
    if (writes % 2 === 0) await moveEvents(parts.database.collections);
    await parts.database.collections.actions.updateMany(
      { 'fanOut.state': { $in: ['IN_PROGRESS', 'FAILED'] } },
      { $set: { 'fanOut.state': 'PENDING', 'fanOut.attempts': 0, 'fanOut.leaseUntil': new Date() } },
    );
    await using worker = parts.worker({ concurrency: 4 }, { chunkSize: 3 });
    worker.start();
    await parts.idle();
    await moveEvents(parts.database.collections);
    const about = (await eventsOf(parts)).filter(
      ({ type, facts }) => type === 'item.delivered' && facts.actionId === action.id,
    );
    const names = about.flatMap(({ facts }) => facts.readers ?? []).map(({ memberId }) => memberId);
    expect([writes, [...new Set(names)].sort()]).toEqual([writes, readers]);
    expect([writes, new Set(about.map(({ id }) => id)).size]).toEqual([writes, about.length]);
  }
});
