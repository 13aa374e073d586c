import { expect, test } from 'vitest';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';

const WHOLE = { memberId: 'ann', name: 'Ann', teamId: 't', departmentId: 'd', supervisorId: 'boss' };

async function memberOf(parts: Parts, userId: string): Promise<unknown> {
  return parts.services.readMember(parts.session(userId), userId);
}

test.each(['teamId', 'departmentId', 'supervisorId'] as const)(
  'clears %s if a record omits it, and nothing else',
  async (field) => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [WHOLE]);
    const { [field]: _left, ...rest } = WHOLE;
    await parts.services.upsertMembers(parts.service, [rest]);
    const { memberId: userId, ...others } = rest;
    expect(await memberOf(parts, 'ann')).toMatchObject({ userId, ...others, [field]: null });
  },
);

test('starts a membership again for a member who was left out of it in between', async () => {
  await using parts = await openParts();
  await parts.services.upsertMembers(parts.service, [WHOLE, { memberId: 'actor', name: 'A', teamId: 't' }]);
  await parts.publish({ scope: 'TEAM' });
  await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann' }]);
  await parts.services.upsertMembers(parts.service, [WHOLE]);
  await parts.fanOut();
  expect(await parts.feedOf('ann')).toEqual([]);
});

test.each(['TEAM', 'DEPARTMENT'] as const)(
  'removes what the %s could see from a former member at once, everywhere, before any rebuild',
  async (scope) => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [
      WHOLE,
      { ...WHOLE, memberId: 'actor', name: 'Actor' },
      { ...WHOLE, memberId: 'stays', name: 'Stays' },
    ]);
    const { action } = await parts.publish({ scope, refs: [{ id: 'site', type: 'site', label: 'Site' }] });
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toEqual([action.id]);
    await using watch = await watching(parts.services, parts.session('ann').identity, {});
    await using other = await watching(parts.services, parts.session('stays').identity, {});
    await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann' }]);

    const ann = parts.session('ann');
    expect(await parts.feedOf('ann')).toEqual([]);
    expect(await parts.services.countUnread(ann)).toEqual({ count: 0, isExact: true });
    expect(await parts.services.getAction(ann, action.id)).toBeNull();
    expect(await parts.services.getNewsfeedItem(ann, action.id)).toBeNull();
    expect((await parts.services.readSlice(ann, 'site', {})).edges).toEqual([]);
    await expect(
      parts.services.addInteraction(parts.session('ann'), { actionId: action.id, kind: 'LIKE' }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await watch.next()).toMatchObject({ kind: 'resync' });

    // Nothing of what comes later reaches them, and members who stayed miss nothing.
    const { action: later } = await parts.publish({ scope });
    await parts.fanOut();
    const { action: last } = await parts.publish({ scope: 'RESTRICTED', recipients: ['ann', 'stays'] });
    await parts.fanOut();
    const shown: string[] = [];
    for (let event = await watch.next(); ; event = await watch.next()) {
      if (event.kind === 'added') shown.push(event.item.actionId);
      if (event.kind === 'added' && event.item.actionId === last.id) break;
    }
    expect(shown).toEqual([last.id]);
    expect(await other.next()).toMatchObject({ kind: 'added', item: { actionId: later.id } });
  },
);
