import { expect, test } from 'vitest';
import { openParts } from '../../support/parts.ts';

const ref = (id: string) => ({ id, type: 'site', label: `Site ${id}` });

test('records an action as given, with derived fields', async () => {
  await using parts = await openParts();
  const conducted = new Date('2026-01-02T03:04:05.678Z');
  const { action, isReplay } = await parts.publish({
    actorId: 'ann',
    conducted,
    scope: 'RESTRICTED',
    recipients: ['bob', 'bob', 'cid'],
    mentions: ['dan'],
    refs: [ref('r1'), ref('r1'), ref('ann')],
    descriptor: {
      custom: {
        verb: 'posted',
        objectType: 'post',
        objectId: 'p',
        data: { 'a.b': [1, { c: null }] },
        tags: ['x', 'x'],
      },
    },
  });
  expect(isReplay).toBe(false);
  const [stored] = await parts.repositories.actions.findByIds([action.id]);
  expect(stored).toEqual(action);
  expect(stored).toMatchObject({
    actorId: 'ann',
    conducted,
    latest: conducted,
    audience: ['user:dan', 'user:bob', 'user:cid'],
    mentions: ['dan'],
    recipients: ['bob', 'cid'],
    refIds: ['r1', 'ann'],
    descriptor: { type: 'Custom', data: { 'a.b': [1, { c: null }] }, tags: ['x'] },
    fanOut: { state: 'PENDING', version: 1, attempts: 0, lane: 'LIVE', delivered: 0, error: null },
  });
});

test('accepts a conducted time up to five minutes ahead, and ranks it no higher than now', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ conducted: new Date(Date.now() + 4 * 60_000) });
  expect(action.latest).toEqual(action.recorded);
  await expect(parts.publish({ conducted: new Date(Date.now() + 6 * 60_000) })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

test('returns the first action to a retry with the same key, by the same actor only', async () => {
  await using parts = await openParts();
  const first = await parts.publish({ actorId: 'ann', idempotencyKey: 'k', refs: [ref('r1')] });
  const again = await parts.publish({ actorId: 'ann', idempotencyKey: 'k', refs: [ref('r2')] });
  const other = await parts.publish({ actorId: 'bob', idempotencyKey: 'k' });
  expect(again).toEqual({ action: first.action, isReplay: true });
  expect(other.isReplay).toBe(false);
  expect(await parts.database.collections.actions.countDocuments()).toBe(2);
});

test('returns the first action to a retry whose actor has left the team in between', async () => {
  await using parts = await openParts();
  const member = (teamId: string | null) =>
    parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann', teamId }]);
  await member('t1');
  const toTeam = { actorId: 'ann', scope: 'TEAM', idempotencyKey: 'k' } as const;
  const first = await parts.publish(toTeam);
  await member(null);
  expect(await parts.publish(toTeam)).toEqual({ action: first.action, isReplay: true });
  const descriptor = { posted: { postId: 'p' } };
  const outcomes = await parts.services.publishActions(parts.service, [
    { ...toTeam, descriptor },
    { ...toTeam, descriptor, idempotencyKey: 'other' },
    { ...toTeam, descriptor, idempotencyKey: null },
  ]);
  expect(outcomes.map(({ action, isReplay, error }) => [action?.id, isReplay, error?.code])).toEqual([
    [first.action.id, true, undefined],
    [undefined, false, 'BAD_USER_INPUT'],
    [undefined, false, 'BAD_USER_INPUT'],
  ]);
  await expect(parts.publish({ ...toTeam, idempotencyKey: 'other' })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ path: ['input', 'scope'], message: 'The actor has no team' }],
  });
  expect(await parts.database.collections.actions.countDocuments()).toBe(1);
});

test('records one action when the same key arrives many times at once', async () => {
  await using parts = await openParts();
  const results = await Promise.all(Array.from({ length: 20 }, () => parts.publish({ idempotencyKey: 'k' })));
  expect(new Set(results.map((result) => result.action.id)).size).toBe(1);
  expect(results.filter((result) => !result.isReplay).length).toBe(1);
});

test('lets each action of a batch succeed or fail on its own, in the given order', async () => {
  await using parts = await openParts();
  const descriptor = { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } };
  const outcomes = await parts.services.publishActions(parts.service, [
    { actorId: 'ann', idempotencyKey: '1', descriptor },
    { actorId: 'ann', idempotencyKey: '2', descriptor: { custom: { verb: '' } } },
    { actorId: 'ann', idempotencyKey: '1', descriptor },
    { actorId: 'ann', scope: 'TEAM', descriptor },
    { actorId: 'ann', scope: 'PUBLIC', descriptor },
  ]);
  expect(outcomes.map((outcome) => [outcome.isReplay, outcome.error?.code ?? null])).toEqual([
    [false, null],
    [false, 'BAD_USER_INPUT'],
    [true, null],
    [false, 'BAD_USER_INPUT'],
    [false, null],
  ]);
  expect(outcomes[3]?.error?.message).toBe('inputs.3.scope: The actor has no team');
  expect(outcomes[2]?.action?.id).toBe(outcomes[0]?.action?.id);
  expect(await parts.database.collections.actions.countDocuments()).toBe(2);
});

test('rejects a batch of more than 500 completely', async () => {
  await using parts = await openParts();
  const inputs = Array.from({ length: 501 }, () => ({
    descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'i' } },
  }));
  await expect(parts.services.publishActions(parts.service, inputs)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
  });
  expect(await parts.database.collections.actions.countDocuments()).toBe(0);
});

test('publishes for the viewer by default, for others only with the role service', async () => {
  await using parts = await openParts();
  const user = parts.session('ann').identity;
  const descriptor = { custom: { verb: 'v', objectType: 'o', objectId: 'i' } };
  expect((await parts.services.publishAction(user, { descriptor })).action.actorId).toBe('ann');
  await expect(parts.services.publishAction(user, { actorId: 'bob', descriptor })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test.each([
  [{ scope: 'RESTRICTED' }],
  [{ scope: 'RESTRICTED', recipients: [] }],
  [{ scope: 'PUBLIC', recipients: ['bob'] }],
  [{ scope: 'EVERYBODY' }],
  [{ refs: [{ id: '', type: 't', label: 'l' }] }],
  [{ mentions: ['\u0000'] }],
  [{ mentions: ['\ud800'] }],
  [{ idempotencyKey: 'k'.repeat(257) }],
  [{ descriptor: {} }],
  [{ descriptor: { unheardOf: {} } }],
  [{ descriptor: { custom: 'text' } }],
  [{ descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'i', data: { deep: { $gt: '' } } } } }],
  [
    {
      descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'i', data: 'x'.repeat(16 * 1024 - 1) } },
    },
  ],
  [{ descriptor: { custom: { verb: 'v', objectType: 'o', objectId: { $gt: '' } } } }],
  [{ descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'i', surplus: 1 } } }],
  [{ recipients: Array.from({ length: 1_001 }, (_, n) => `u${String(n)}`), scope: 'RESTRICTED' }],
])('rejects %j and records nothing', async (input) => {
  await using parts = await openParts();
  await expect(parts.publish(input)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(await parts.database.collections.actions.countDocuments()).toBe(0);
});

test('accepts exactly 16 KiB of data', async () => {
  await using parts = await openParts();
  const data = 'x'.repeat(16 * 1024 - 2);
  const { action } = await parts.publish({
    descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'i', data } },
  });
  expect(action.descriptor['data']).toBe(data);
});
