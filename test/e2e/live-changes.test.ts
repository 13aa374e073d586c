import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { letExpire } from '../support/expire.ts';
import { ask, feedOf, inAnHour, publish, rawId, upsert } from '../support/feed-api.ts';
import { watchFeed, type FeedWatcher } from '../support/live-clients.ts';
import { uniqueName } from '../support/unique-name.ts';

const ADMIN = { sub: 'root', roles: ['admin'] } as const;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Scene {
  readonly reader: string;
  readonly actor: string;
  /** Of an action that is in the reader's feed. */
  readonly action: string;
  /** Something more for the reader, which comes last. */
  last(): Promise<string>;
}

async function openScene(): Promise<Scene> {
  const [reader, actor, supervisor] = [uniqueName('reader'), uniqueName('actor'), uniqueName('boss')];
  await upsert(app, {
    members: [{ memberId: reader, name: 'Reader', supervisorId: supervisor }],
    pairs: [{ followerId: reader, refId: actor }],
  });
  const action = await publish(app, { actorId: actor, conducted: '2026-01-01T00:00:00Z' });
  await app.idle();
  return {
    ...{ reader, actor, action },
    async last() {
      await app.idle();
      return publish(app, { actorId: 'last', scope: 'RESTRICTED', recipients: [reader] });
    },
  };
}

async function shown(reader: string): Promise<string[]> {
  return (await feedOf(app, reader)).map(({ action }) => action.id);
}

async function expectRemoved(watcher: FeedWatcher, { reader, action }: Scene): Promise<void> {
  const event = await watcher.next();
  const itemId = Buffer.from(`NewsfeedItem:${reader}:${rawId(action)}`).toString('base64');
  expect(event).toMatchObject({ __typename: 'FeedItemRemoved', actionId: action, itemId });
}

test('a hidden action disappears, and comes back on top when it is shown again, otherwise unchanged', async () => {
  const scene = await openScene();
  const [before] = await feedOf(app, scene.reader);
  const newer = await publish(app, { actorId: scene.actor, conducted: '2026-02-01T00:00:00Z' });
  await app.idle();
  await using watcher = await watchFeed('SSE', app, scene.reader);
  await ask(app, 'mutation ($id: ID!) { hideAction(id: $id) { isHidden } }', { id: scene.action }, ADMIN);
  expect(await shown(scene.reader)).toEqual([newer]);
  await expectRemoved(watcher, scene);
  await app.idle();
  await ask(app, 'mutation ($id: ID!) { unhideAction(id: $id) { isHidden } }', { id: scene.action }, ADMIN);
  await app.idle();
  const [top] = await feedOf(app, scene.reader);
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemAdded', item: top });
  expect(await shown(scene.reader)).toEqual([scene.action, newer]);
  expect(top).toEqual({ ...before, relevancy: top?.relevancy });
});

test('a deleted action disappears', async () => {
  const scene = await openScene();
  await using watcher = await watchFeed('SSE', app, scene.reader);
  await ask(
    app,
    'mutation ($id: ID!) { deleteAction(id: $id) { id } }',
    { id: scene.action },
    { sub: scene.actor },
  );
  expect(await shown(scene.reader)).toEqual([]);
  await expectRemoved(watcher, scene);
  expect(await watcher.addedUntil(await scene.last())).toEqual([]);
});

test('an action disappears when it expires, without any request', async () => {
  const scene = await openScene();
  await using watcher = await watchFeed('SSE', app, scene.reader);
  const passing = await publish(app, { actorId: scene.actor, expiresAt: inAnHour() });
  expect(await watcher.next()).toMatchObject({
    __typename: 'FeedItemAdded',
    item: { action: { id: passing } },
  });
  await letExpire(app.app, rawId(passing));
  await expectRemoved(watcher, { ...scene, action: passing });
  expect(await shown(scene.reader)).toEqual([scene.action]);
});

test("a supervisor's comment boosts an item, and the event shows it as the feed does", async () => {
  const scene = await openScene();
  const other = await publish(app, { actorId: scene.actor, conducted: '2026-02-01T00:00:00Z' });
  await app.idle();
  expect(await shown(scene.reader)).toEqual([other, scene.action]);
  await using watcher = await watchFeed('SSE', app, scene.reader);
  const boss = await ask<{ viewer: { member: { supervisorId: string } } }>(
    app,
    '{ viewer { member { supervisorId } } }',
    {},
    { sub: scene.reader },
  );
  const at = '2026-03-01T12:00:00.000Z';
  await ask(
    app,
    'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
    { input: { actionId: scene.action, kind: 'COMMENT', at } },
    { sub: boss.viewer.member.supervisorId, roles: ['admin'] },
  );
  const event = await watcher.next();
  const [item, below] = await feedOf(app, scene.reader);
  expect(event).toMatchObject({ __typename: 'FeedItemUpdated' });
  expect(event).toHaveProperty('item', item);
  expect(item).toMatchObject({
    relevancy: at,
    action: { id: scene.action, engagement: { comments: 1, lastInteraction: at } },
  });
  expect(below?.action.id).toBe(other);
  expect(await watcher.addedUntil(await scene.last())).toEqual([]);
});

test('an item that a reader hides disappears in all their tabs, and for nobody else', async () => {
  const scene = await openScene();
  const other = uniqueName('other');
  await upsert(app, { pairs: [{ followerId: other, refId: scene.actor }] });
  await using tab = await watchFeed('SSE', app, scene.reader);
  await using second = await watchFeed('WebSocket', app, scene.reader);
  await using elsewhere = await watchFeed('SSE', app, other);
  const reader = { sub: scene.reader };
  const { id } = { id: scene.action };
  await ask(app, 'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }', { id }, reader);
  expect(await shown(scene.reader)).toEqual([]);
  await expectRemoved(tab, scene);
  await expectRemoved(second, scene);
  await ask(app, 'mutation ($id: ID!) { unhideFeedItem(actionId: $id) { actionId } }', { id }, reader);
  expect(await tab.next()).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id } } });
  expect(await second.next()).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id } } });
  expect(await shown(scene.reader)).toEqual([id]);
  const next = await publish(app, { actorId: scene.actor });
  expect(await elsewhere.addedUntil(next)).toEqual([]);
});

test("a mute is announced by a resync, and the muted member's actions stay away until it ends", async () => {
  const scene = await openScene();
  await using watcher = await watchFeed('SSE', app, scene.reader);
  const reader = { sub: scene.reader };
  const args = { memberId: scene.actor };
  await ask(
    app,
    'mutation ($memberId: String!) { addMute(target: { memberId: $memberId }) { memberId } }',
    args,
    reader,
  );
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync', reason: 'mutes' });
  await publish(app, { actorId: scene.actor });
  const between = await scene.last();
  expect(await watcher.addedUntil(between)).toEqual([]);
  expect(await shown(scene.reader)).toEqual([between]);
  await ask(
    app,
    'mutation ($memberId: String!) { removeMute(target: { memberId: $memberId }) { memberId } }',
    args,
    reader,
  );
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync', reason: 'mutes' });
  const heard = await publish(app, { actorId: scene.actor });
  expect(await watcher.next()).toMatchObject({ item: { action: { id: heard } } });
});

test('a follow that ends removes its history only on request', async () => {
  const scene = await openScene();
  await using watcher = await watchFeed('SSE', app, scene.reader);
  const reader = { sub: scene.reader };
  const unfollow =
    'mutation ($refId: String!, $keep: Boolean!) { unfollow(refId: $refId, keepHistory: $keep) { isFollowed } }';
  expect(await ask(app, unfollow, { refId: scene.actor, keep: true }, reader)).toEqual({
    unfollow: { isFollowed: false },
  });
  expect(await shown(scene.reader)).toEqual([scene.action]);
  await publish(app, { actorId: scene.actor });
  expect(await watcher.addedUntil(await scene.last())).toEqual([]);
  await ask(app, unfollow, { refId: scene.actor, keep: false }, reader);
  expect(await shown(scene.reader)).not.toContain(scene.action);
  await expectRemoved(watcher, scene);
});

test('a follow delivers past actions to a watching follower', async () => {
  const scene = await openScene();
  const reader = uniqueName('late');
  await using watcher = await watchFeed('SSE', app, reader);
  await ask(
    app,
    'mutation ($refId: String!) { follow(refId: $refId) { refId } }',
    { refId: scene.actor },
    { sub: reader },
  );
  expect(await watcher.next()).toMatchObject({
    __typename: 'FeedItemAdded',
    item: { action: { id: scene.action } },
  });
});
