import { describe, expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { checkClock } from '../../../src/features/operations/clock-watch.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { skewed } from '../../support/skewed.ts';
import { claimOne } from '../../support/claim-one.ts';

const PATIENTLY = { timeout: PATIENCE_MS };

const TEN_MINUTES = 600_000;
const BOTH = [
  ['ahead', TEN_MINUTES],
  ['behind', -TEN_MINUTES],
] as const;

function comment(parts: Parts, actionId: string): Promise<unknown> {
  const service = parts.session('service', 'service');
  return parts.services.addInteraction(service, { actionId, kind: 'COMMENT', actorId: 'actor' });
}

/** Until both have come to a later millisecond: what the database's clock is, is known to within a few of them. */
async function later(skew: number): Promise<void> {
  const time = clock.time();
  await expect.poll(() => skewed(skew, () => Promise.resolve(clock.time())), PATIENTLY).toBeGreaterThan(time);
  const after = clock.time();
  await expect.poll(() => clock.time(), PATIENTLY).toBeGreaterThan(after);
}

async function unreadOf(parts: Parts, userId: string): Promise<number> {
  return (await parts.services.countUnread(parts.session(userId))).count;
}

async function fanOutOf(parts: Parts, id: string) {
  const [action] = await parts.repositories.actions.findByIds([id]);
  return action?.fanOut;
}

describe.each(BOTH)('a process whose clock is ten minutes %s', (_name, skew) => {
  test('publishes actions that are delivered at once, to the current followers', async () => {
    await using parts = await openParts();
    await parts.services.follow(parts.session('ann'), 'actor', 0);
    const { action } = await skewed(skew, () => parts.publish({}));
    await parts.services.unfollow(parts.session('ann'), 'actor', true);
    expect(await claimOne(parts.repositories.fanOuts, 'w', clock.now(), 0)).not.toBeNull();
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toEqual([action.id]);
  });

  test('opens follows and joins teams from now on', async () => {
    await using parts = await openParts();
    const member = { memberId: 'ann', name: 'Ann' };
    await parts.services.upsertMembers(parts.service, [
      { memberId: 'actor', name: 'Actor', teamId: 't' },
      member,
    ]);
    const { action: before } = await parts.publish({});
    const { action: ofTeamBefore } = await parts.publish({ scope: 'TEAM' });
    await later(skew);
    await skewed(skew, async () => {
      await parts.services.follow(parts.session('ann'), 'actor', 0);
      await parts.services.upsertMembers(parts.service, [{ ...member, teamId: 't' }]);
    });
    await later(skew);
    const { action: after } = await parts.publish({});
    const { action: ofTeam } = await parts.publish({ scope: 'TEAM' });
    await parts.fanOut();
    const feed = await parts.feedOf('ann');
    expect(feed).toEqual(expect.arrayContaining([after.id, ofTeam.id]));
    expect(feed).not.toContain(before.id);
    expect(feed).not.toContain(ofTeamBefore.id);
  });

  test('marks existing items as read, and no later ones', async () => {
    await using parts = await openParts();
    await parts.publish({ mentions: ['ann'] });
    await parts.fanOut();
    expect(await unreadOf(parts, 'ann')).toBe(1);
    const far = new Date(Date.now() + 10 * TEN_MINUTES);
    await skewed(skew, () => parts.services.markFeedRead(parts.session('ann'), far));
    expect(await unreadOf(parts, 'ann')).toBe(0);
    await later(skew);
    await parts.publish({ mentions: ['ann'] });
    await parts.fanOut();
    expect(await unreadOf(parts, 'ann')).toBe(1);
  });

  test('records interactions that boost to now, and hides and shows again', async () => {
    await using parts = await openParts();
    const { action } = await parts.publish({ mentions: ['ann'] });
    await parts.fanOut();
    const from = clock.time();
    await skewed(skew, () => comment(parts, action.id));
    await parts.fanOut();
    const [entry] = await parts.feedStore.find('ann', [action.id]);
    expect(entry?.relevancy.getTime()).toBeGreaterThanOrEqual(from);
    expect(entry?.relevancy.getTime()).toBeLessThanOrEqual(clock.time());
    const admin = parts.session('admin', 'admin');
    await skewed(skew, () => parts.services.hideAction(admin, action.id, null));
    expect(await claimOne(parts.repositories.fanOuts, 'w', clock.now(), 0)).not.toBeNull();
    await parts.fanOut();
    expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual([]);
  });

  test("processes others' publications, and takes over no valid leases", async () => {
    await using parts = await openParts();
    const { action: taken } = await parts.publish({});
    const claim = await claimOne(parts.repositories.fanOuts, 'other', clock.now(), TEN_MINUTES / 2);
    expect(claim?.action.id).toBe(taken.id);
    const { action } = await parts.publish({ mentions: ['ann'] });
    await using worker = parts.worker();
    await skewed(skew, async () => {
      worker.start();
      await expect.poll(() => fanOutOf(parts, action.id), PATIENTLY).toMatchObject({ state: 'DONE' });
      // It has looked again since and found nothing.
      const { action: next } = await parts.publish({ mentions: ['ann'] });
      await expect.poll(() => fanOutOf(parts, next.id), PATIENTLY).toMatchObject({ state: 'DONE' });
      await worker.stop();
    });
    expect(await fanOutOf(parts, taken.id)).toMatchObject({ state: 'IN_PROGRESS', attempts: 1 });
    expect(claim !== null && (await parts.repositories.fanOuts.finish([{ claim, delivered: 0 }])).size).toBe(
      1,
    );
  });

  test('owns leases that others respect', async () => {
    await using parts = await openParts();
    const { fanOuts } = parts.repositories;
    const { action } = await parts.publish({});
    const claim = await skewed(skew, () => claimOne(fanOuts, 'skewed', clock.now(), 60_000));
    if (claim === null) throw new Error('There is nothing to claim');
    await skewed(skew, () => fanOuts.renew([claim], 60_000));
    expect(await claimOne(fanOuts, 'other', clock.now(), 60_000)).toBeNull();
    const later = new Date(clock.time() + TEN_MINUTES / 2);
    expect((await claimOne(fanOuts, 'other', later, 60_000))?.action.id).toBe(action.id);
  });

  test('rebuilds feeds that others requested, and requests rebuilds from others', async () => {
    await using parts = await openParts();
    const { action } = await parts.publish({ mentions: ['ann'] });
    await parts.fanOut();
    await parts.feedStore.drop('ann');
    await skewed(skew, () => parts.services.rebuildFeed(parts.admin, 'ann'));
    await parts.fanOut();
    expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual(['ann']);
    await parts.feedStore.drop('ann');
    await parts.services.rebuildFeed(parts.admin, 'ann');
    await skewed(skew, () => parts.fanOut());
    expect(await parts.feedStore.holders(action.id, { limit: 10 })).toEqual(['ann']);
  });

  test('is not ready and reports the difference', async () => {
    await using _parts = await openParts();
    await expect(checkClock()).resolves.toBeUndefined();
    await skewed(skew, async () => {
      expect(Math.round(clock.skew() / 60_000)).toBe(Math.round(skew / 60_000));
      await expect(checkClock()).rejects.toThrow(skew > 0 ? /is 600 s ahead of/ : /is 600 s behind/);
    });
    await expect(checkClock()).resolves.toBeUndefined();
  });
});
