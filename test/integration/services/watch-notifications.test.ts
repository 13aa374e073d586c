import { expect, test } from 'vitest';
import { Bell, listOf } from '../../support/bell.ts';
import { openParts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

test('a bell shows what a fresh read does, whatever happens, also after it was away', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const equals = (bell: Bell): Promise<void> =>
    expect
      .poll(async () => ({ now: bell.shown, fresh: await listOf(parts, 'ann') }), { timeout: PATIENCE_MS })
      .toSatisfy(({ now, fresh }) => JSON.stringify(now) === JSON.stringify(fresh));
  const { action } = await parts.publish({ actorId: 'ann', scope: 'PUBLIC' });
  const actionId = action.id;
  const comment = async (userId: string, more: object = {}): Promise<string> =>
    (
      await services.addInteraction(session(userId), {
        ...{ actionId, kind: 'COMMENT', text: userId },
        ...more,
      })
    ).interaction.id;
  let cursor: string | null = null;
  {
    await using bell = await new Bell(parts, 'ann', null).open();
    const first = await comment('bob');
    await equals(bell);
    expect(bell.kinds).toEqual(['ready', 'added', 'counts']);
    await comment('cid');
    await services.addInteraction(session('bob'), { actionId, kind: 'LIKE' });
    await equals(bell);
    await services.removeInteraction(session('bob'), { own: { actionId, kind: 'LIKE' } });
    await services.hideInteraction(session('admin', 'admin'), first, null);
    await equals(bell);
    expect(bell.kinds).toContain('removed');
    await services.follow(session('dan'), 'ann', 0);
    await equals(bell);
    await services.unfollow(session('dan'), 'ann', true);
    await services.markNotificationsSeen(session('ann'), new Date());
    await services.addMute(session('ann'), { memberId: 'cid' }, null);
    await equals(bell);
    await services.removeMute(session('ann'), { memberId: 'cid' });
    const own = await comment('ann');
    await comment('bob', { parentId: own });
    await parts.publish({ actorId: 'bob', scope: 'PUBLIC', mentions: ['ann'] });
    await parts.fanOut();
    await equals(bell);
    cursor = bell.cursor;
  }
  const other = await parts.publish({ actorId: 'cid', scope: 'PUBLIC' });
  const said = await services.addInteraction(session('ann'), {
    ...{ actionId: other.action.id, kind: 'COMMENT', text: 'Mine' },
  });
  await services.addInteraction(session('bob'), {
    ...{ actionId: other.action.id, kind: 'COMMENT', text: 'Yours', parentId: said.interaction.id },
  });
  await using back = await new Bell(parts, 'ann', cursor).open();
  // What it missed comes as events. A reply could have been a mention, which is reported as not there.
  await expect
    .poll(() => back.kinds, { timeout: PATIENCE_MS })
    .toEqual(['ready', 'removed', 'added', 'counts']);
  await services.hideAction(session('admin', 'admin'), other.action.id, null);
  // Once for what it missed, and once for the reply that is gone with its action.
  await expect
    .poll(() => back.kinds.filter((kind) => kind === 'counts').length, { timeout: PATIENCE_MS })
    .toBe(2);
});

test('a bell is notified of who names its reader in an action that is not in their feed, and of an edit that takes it back', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const asking = (memberId: string) => ({
    applicantRatingRequested: {
      ...{ applicantId: 'eve', applicantName: 'Eve' },
      ...{ requestedFromId: memberId, requestedFromName: 'R' },
    },
  });
  await using bell = await new Bell(parts, 'ann', null).open();
  const { action } = await parts.publish({ actorId: 'bob', scope: 'PUBLIC', descriptor: asking('ann') });
  await parts.fanOut();
  await expect.poll(() => bell.kinds, { timeout: PATIENCE_MS }).toEqual(['ready', 'added', 'counts']);
  expect((await services.readFeed(session('ann'), {})).edges).toEqual([]);
  // What only people do with it is no news of who is named.
  await services.addInteraction(session('cid'), { actionId: action.id, kind: 'LIKE' });
  await parts.fanOut();
  await services.updateAction(session('host', 'service'), action.id, { descriptor: asking('dan') });
  await parts.fanOut();
  await expect
    .poll(() => bell.kinds, { timeout: PATIENCE_MS })
    .toEqual(['ready', 'added', 'counts', 'removed', 'counts']);
});

test('a bell that was opened hears of what comes right after, though the number is what it was', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const { action } = await parts.publish({ actorId: 'ann', scope: 'PUBLIC' });
  const comment = (userId: string): Promise<unknown> =>
    services.addInteraction(session(userId), { actionId: action.id, kind: 'COMMENT', text: userId });
  await using bell = await new Bell(parts, 'ann', null).open();
  const counted = (): number => bell.kinds.filter((kind) => kind === 'counts').length;
  await comment('bob');
  await expect.poll(counted, { timeout: PATIENCE_MS }).toBe(1);
  await services.markNotificationsSeen(session('ann'), new Date());
  await comment('cid');
  // Within a quarter of a second they are counted together; else each on its own.
  await expect.poll(counted, { timeout: PATIENCE_MS }).toBeGreaterThanOrEqual(2);
});

test('the counts of a page agree with its list while others write', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const ids: string[] = [];
  for (let n = 0; n < 6; n += 1)
    ids.push((await parts.publish({ actorId: 'ann', scope: 'PUBLIC' })).action.id);
  const write = async (actionId: string): Promise<void> => {
    await services.addInteraction(session('bea'), { actionId, kind: 'LIKE' });
    await services.removeInteraction(session('bea'), { own: { actionId, kind: 'LIKE' } });
    await services.addInteraction(session('cid'), { actionId, kind: 'COMMENT', text: 'So' });
  };
  const writing = Promise.all(ids.map(write));
  let comments = 0;
  do {
    const page = await services.readNotifications(session('ann'), { first: 100, withCounts: true });
    const count = page.edges.length;
    comments = page.edges.filter(({ node }) => node.group.kind === 'COMMENT').length;
    expect([await page.countUnseen(), await page.countUnread()]).toEqual([
      { count, isExact: true },
      { count, isExact: true },
    ]);
  } while (comments < ids.length);
  await writing;
});
