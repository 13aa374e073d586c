import { hostEventsRepository } from '../../../parts/events/src/store/host-events.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encodeActionId, encodeInteractionId } from '../../../src/domain/node-ids.ts';
import { eventsOf, moveEvents, poll } from '../../support/events.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import type { HostEventView } from '../../../src/domain/host-event.ts';

let parts: Parts;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true });
});
afterEach(async () => parts[Symbol.asyncDispose]());

async function notified(): Promise<HostEventView[]> {
  await moveEvents(parts.database.collections);
  const views: HostEventView[] = [];
  for await (const view of poll(parts, { after: null })) views.push(view);
  return views;
}

const typesOf = (views: readonly { readonly type: string }[]): string[] => views.map(({ type }) => type);

describe('a host gets events, in order,', () => {
  test('when an action is published, hidden, shown again and deleted', async () => {
    const { action } = await parts.publish({ scope: 'PUBLIC' });
    const admin = parts.session('admin', 'admin');
    await parts.services.updateAction(parts.session('actor'), action.id, { mentions: ['ann'] });
    await parts.services.hideAction(admin, action.id, 'a reason that nobody gets');
    await parts.services.hideAction(admin, action.id, null);
    await parts.services.unhideAction(admin, action.id);
    await parts.services.deleteAction(admin, action.id);
    await parts.services.deleteAction(admin, action.id);
    const views = await notified();
    expect(typesOf(views)).toEqual([
      'action.published',
      'action.updated',
      'action.hidden',
      'action.unhidden',
      'action.deleted',
    ]);
    for (const { data } of views)
      expect(data).toEqual({
        ...{ actionId: encodeActionId(action.id), actorId: 'actor', type: 'Custom', scope: 'PUBLIC' },
      });
    expect(new Set(views.map(({ id }) => id)).size).toBe(5);
  });

  test('when an action has expired', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { action } = await parts.publish({ expiresAt });
    await parts.repositories.moderation.expire(action.id, expiresAt);
    expect(typesOf(await notified())).toEqual(['action.published', 'action.deleted']);
  });

  test('once per publication, however often its key is repeated', async () => {
    await parts.publish({ idempotencyKey: 'k' });
    await parts.publish({ idempotencyKey: 'k' });
    const input = { descriptor: { posted: { postId: 'p' } }, actorId: 'actor' };
    await parts.services.publishActions(parts.service, [
      { ...input, idempotencyKey: 'k' },
      { ...input, idempotencyKey: 'l' },
    ]);
    expect(typesOf(await notified())).toEqual(['action.published', 'action.published']);
  });

  test('each time an interaction is added and removed', async () => {
    const { action } = await parts.publish({ scope: 'PUBLIC' });
    const ann = parts.session('ann');
    const like = { actionId: action.id, kind: 'LIKE' } as const;
    const { interaction } = await parts.services.addInteraction(ann, like);
    await parts.services.addInteraction(ann, like);
    await parts.services.removeInteraction(ann, { own: like });
    await parts.services.removeInteraction(ann, { own: like });
    await parts.services.addInteraction(ann, like);
    const views = (await notified()).slice(1);
    expect(typesOf(views)).toEqual(['interaction.recorded', 'interaction.removed', 'interaction.recorded']);
    for (const { data } of views)
      expect(data).toEqual({
        ...{ actionId: encodeActionId(action.id), interactionId: encodeInteractionId(interaction.id) },
        ...{ actorId: 'ann', kind: 'LIKE', reaction: null },
      });
  });

  test('of interactions with an action that was deleted before its events were moved', async () => {
    const { action } = await parts.publish({ scope: 'PUBLIC' });
    const comment = { actionId: action.id, kind: 'COMMENT', text: 'Words that nobody gets' } as const;
    for (const who of ['ann', 'bob']) await parts.services.addInteraction(parts.session(who), comment);
    await parts.services.deleteAction(parts.session('admin', 'admin'), action.id);
    await parts.fanOut();
    expect(await parts.database.collections.interactions.countDocuments()).toBe(0);
    const views = await notified();
    expect(typesOf(views).sort()).toEqual([
      ...['action.deleted', 'action.published', 'interaction.recorded', 'interaction.recorded'],
    ]);
    expect(JSON.stringify(views)).not.toContain('Words');
  });

  test('once when a follow opens or closes', async () => {
    const ann = parts.session('ann');
    await parts.services.follow(ann, 'site', 0);
    await parts.services.follow(ann, 'site', 10);
    await parts.services.unfollow(ann, 'site', true);
    await parts.services.unfollow(ann, 'site', false);
    await parts.services.followMany(parts.service, [
      { followerId: 'bob', refId: 'site' },
      { followerId: 'cid', refId: 'site' },
    ]);
    await parts.services.unfollowMany(parts.service, [{ followerId: 'bob', refId: 'site' }], false);
    const views = await notified();
    expect(views.map(({ type, data }) => `${type} ${String(data['followerId'])}`).sort()).toEqual([
      ...['follow.closed ann', 'follow.closed bob', 'follow.opened ann', 'follow.opened bob'],
      'follow.opened cid',
    ]);
    const ofBob = views.filter(({ data }) => data['followerId'] === 'bob');
    expect(typesOf(ofBob)).toEqual(['follow.opened', 'follow.closed']);
    expect(ofBob[0]?.data).toEqual({ followerId: 'bob', refId: 'site' });
    // What was kept for its events alone has gone with them.
    expect(await parts.database.collections.follows.distinct('followerId')).toEqual(['cid']);
  });

  test('when a delivery fails for good', async () => {
    await parts.publish({ mentions: ['ann'] });
    const failing = { ...parts.feedStore, deliver: () => Promise.reject(new Error('no room for ann')) };
    await using worker = parts.worker({ maxAttempts: 1 }, { feedStore: failing });
    worker.start();
    await parts.idle();
    const views = (await notified()).filter(({ type }) => type === 'fanout.failed');
    expect(views).toHaveLength(1);
    expect(JSON.stringify(views)).not.toContain('ann');
  });
});

test('returns the same page for the same cursor, and only requested types', async () => {
  for (let n = 0; n < 5; n++) await parts.publish({});
  await parts.services.follow(parts.session('ann'), 'site', 0);
  await moveEvents(parts.database.collections);
  const read = (args: Parameters<Parts['services']['readHostEvents']>[1]) =>
    parts.services.readHostEvents(parts.admin, args);
  const first = await read({ first: 2 });
  expect(first.hasMore).toBe(true);
  expect(await read({ first: 2, after: first.end })).toEqual(
    await read({ first: 2, after: first.edges.at(-1)?.cursor ?? null }),
  );
  const follows = await read({ types: ['follow.opened', 'digest.due'] });
  expect(follows.edges.map(({ node }) => node.type)).toEqual(['follow.opened']);
  // The end lies behind everything that was looked at, shown or not.
  const nothing = await read({ types: ['digest.due'] });
  expect(nothing).toMatchObject({ edges: [], hasMore: false });
  expect((await read({ after: nothing.end })).edges).toEqual([]);
  await parts.publish({});
  await moveEvents(parts.database.collections);
  expect((await read({ after: nothing.end })).edges).toHaveLength(1);
});

test.each([
  [{ first: 0 }, 'Must be from 1 to 1000, got 0'],
  [{ first: 1_001 }, 'Must be from 1 to 1000, got 1001'],
  [{ types: [] }, 'Must be 1 to 19 of action.published'],
  [{ types: ['action.published', 'nonsense'] }, 'got "nonsense"'],
  [{ after: 'nonsense' }, 'cursor'],
])('rejects %j', async (args, message) => {
  await expect(parts.services.readHostEvents(parts.service, args)).rejects.toThrow(message);
});

test('is for admins and services', async () => {
  const { identity } = parts.session('ann');
  await expect(parts.services.readHostEvents(identity, {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

test('tells a host that was away too long that events are missing, and gives no number twice', async () => {
  for (let n = 0; n < 4; n++) await parts.publish({});
  await moveEvents(parts.database.collections);
  const hostEvents = hostEventsRepository(parts.database.collections);
  const early = await parts.services.readHostEvents(parts.service, { first: 2 });
  const late = await parts.services.readHostEvents(parts.service, {});
  expect(await hostEvents.purge(new Date(Date.now() + 60_000), 100)).toBe(4);
  expect(await hostEvents.purge(new Date(Date.now() + 60_000), 100)).toBe(0);
  await expect(parts.services.readHostEvents(parts.service, { after: early.end })).rejects.toMatchObject({
    code: 'BAD_CURSOR',
    message: 'Events after this cursor have been deleted',
  });
  await parts.publish({});
  await moveEvents(parts.database.collections);
  expect((await eventsOf(parts)).map(({ seq }) => seq)).toEqual([5]);
  const page = await parts.services.readHostEvents(parts.service, { after: late.end });
  expect(page.edges).toHaveLength(1);
});

test('writes nothing for hosts if events are off', async () => {
  await using off = await parts.reopen({ recordsEvents: false });
  const { action } = await off.publish({ scope: 'PUBLIC', mentions: ['ann'] });
  const like = { actionId: action.id, kind: 'LIKE' } as const;
  await off.services.addInteraction(off.session('ann'), like);
  await off.services.removeInteraction(off.session('ann'), { own: like });
  await off.services.follow(off.session('ann'), 'site', 0);
  await off.services.unfollow(off.session('ann'), 'site', true);
  await off.fanOut();
  await off.services.deleteAction(off.session('admin', 'admin'), action.id);
  await off.fanOut();
  expect(await notified()).toEqual([]);
  const { actions, follows, eventOutbox } = off.database.collections;
  expect(await actions.findOne({})).not.toHaveProperty('unsent');
  expect(await follows.findOne({})).not.toHaveProperty('unsentAt');
  expect(await eventOutbox.countDocuments()).toBe(0);
});
