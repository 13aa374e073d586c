import { expect, test } from 'vitest';
import { openParts, type Parts } from '../../support/parts.ts';

const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } };

const rating = (raterId: string) => ({
  applicationRating: {
    ...{ raterId, raterName: 'Alice', applicantId: 'a', applicantName: 'Mary', positionId: 'p' },
    ...{ positionName: 'Cook', ratingScore: 90 },
  },
});

async function interactions(parts: Parts): Promise<number> {
  return parts.database.collections.interactions.countDocuments();
}

test.each([
  ['for the recipient', { scope: 'RESTRICTED', recipients: ['bob'] }, 'bob', 'ann'],
  ['for a follower', { scope: 'FOLLOWERS' }, 'follower', 'ann'],
  ['for a team mate', { scope: 'TEAM' }, 'mate', 'ann'],
] as const)(
  'a service records an interaction %s, but not for members who may not see the action',
  async (_for, input, seer, other) => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [
      { memberId: 'actor', name: 'Actor', teamId: 't' },
      { memberId: 'mate', name: 'Mate', teamId: 't' },
    ]);
    await parts.services.followMany(parts.service, [{ followerId: 'follower', refId: 'actor' }]);
    const { action } = await parts.publish(input);
    const record = (actorId?: string, ...roles: ('service' | 'admin')[]) =>
      parts.services.addInteraction(parts.session('service', 'service', ...roles), {
        ...{ actionId: action.id, kind: 'LIKE', actorId },
      });
    // Neither its own role nor that of an admin goes beyond the member it acts for.
    for (const refused of [() => record(other), () => record(other, 'admin'), () => record()])
      await expect(refused()).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'There is no such action',
      });
    expect(await interactions(parts)).toBe(0);
    const [before] = await parts.repositories.actions.findByIds([action.id]);
    expect(before?.fanOut.version).toBe(1);
    expect((await record(seer)).action.engagement.likes).toBe(1);
  },
);

test.each([
  ['hidden', 'hideAction'],
  ['deleted', 'deleteAction'],
] as const)(
  'a service records nothing on an action that is %s, and does not see it by a replay',
  async (_what, how) => {
    await using parts = await openParts();
    const { services, service } = parts;
    const input = { actorId: 'actor', scope: 'PUBLIC', idempotencyKey: 'k', descriptor };
    const { action } = await services.publishAction(service, input);
    const moderate = (): Promise<unknown> =>
      how === 'hideAction'
        ? services.hideAction(parts.session('admin', 'admin'), action.id, null)
        : services.deleteAction(parts.session('admin', 'admin'), action.id);
    await moderate();
    await expect(
      services.addInteraction(parts.session('service', 'service'), {
        ...{ actionId: action.id, kind: 'LIKE', actorId: 'actor' },
      }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await interactions(parts)).toBe(0);
    const { actorId: _actor, ...own } = input;
    const conflict = {
      code: 'CONFLICT',
      message: 'The idempotency key belongs to an action that was hidden or deleted, or has expired',
    };
    for (const [identity, replayed] of [
      [service, input],
      [parts.session('service', 'service', 'admin').identity, input],
      [parts.session('actor').identity, own],
    ] as const) {
      await expect(services.publishAction(identity, replayed)).rejects.toMatchObject(conflict);
      expect(await services.publishActions(identity, [{ descriptor }, replayed])).toMatchObject([
        { isReplay: false, error: null },
        { action: null, isReplay: false, error: conflict },
      ]);
    }
  },
);

test('an admin sees their own hidden action by a replay, as in other ways', async () => {
  await using parts = await openParts();
  const admin = parts.session('admin', 'admin');
  const input = { idempotencyKey: 'k', descriptor };
  const { action } = await parts.services.publishAction(admin.identity, input);
  await parts.services.hideAction(admin, action.id, null);
  expect(await parts.services.publishAction(admin.identity, input)).toMatchObject({
    isReplay: true,
    action: { id: action.id, isHidden: true },
  });
});

test('a service lists actions like an admin, and reads like any member everywhere else', async () => {
  await using parts = await openParts();
  const refs = [{ id: 'site', type: 'site', label: 'Site' }];
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'], refs });
  const { action: hidden } = await parts.publish({ scope: 'PUBLIC', refs });
  await parts.services.hideAction(parts.session('admin', 'admin'), hidden.id, null);
  const session = parts.session('service', 'service');
  const listed = await parts.services.listActions(session, { includeHidden: true });
  expect(listed.edges.map(({ node }) => node.id)).toEqual([hidden.id, action.id]);
  for (const { id } of [action, hidden]) {
    expect(await parts.services.getAction(session, id)).toBeNull();
    expect(await parts.services.getNewsfeedItem(session, id)).toBeNull();
  }
  expect((await parts.services.readSlice(session, 'site', {})).edges).toEqual([]);
  await expect(parts.services.listActions(parts.session('ann'), {})).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('only a service publishes a descriptor that says somebody else did something', async () => {
  await using parts = await openParts();
  const refusal = {
    code: 'FORBIDDEN',
    message: expect.stringContaining(
      'descriptor.applicationRating.raterId: Must be the actor unless a service publishes, got "alice"',
    ) as string,
  };
  for (const roles of [['user'], ['admin']] as const) {
    const { identity } = parts.session('mallory', ...roles);
    await expect(
      parts.services.publishAction(identity, { descriptor: rating('alice') }),
    ).rejects.toMatchObject(refusal);
    expect(
      await parts.services.publishActions(identity, [
        { descriptor: rating('alice') },
        { descriptor: rating('mallory') },
      ]),
    ).toMatchObject([
      { action: null, error: refusal },
      { action: { actorId: 'mallory' }, error: null },
    ]);
  }
  expect(
    await parts.services.publishAction(parts.service, { actorId: 'bob', descriptor: rating('alice') }),
  ).toMatchObject({ action: { actorId: 'bob', descriptor: { raterId: 'alice' } } });
  expect(await parts.database.collections.actions.countDocuments()).toBe(3);
});
