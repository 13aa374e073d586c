import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask } from '../support/feed-api.ts';
import { openWatcher, watchFeed } from '../support/live-clients.ts';
import { FEED_READS, READ_NAMES, WRITE_NAMES, type Target, type Write } from '../support/privacy-ways.ts';
import {
  expectNothing,
  expectShown,
  openPrivacyWorld,
  publishTarget,
  unreadOf,
  VIEWER_NAMES,
  type PrivacyWorld,
  type Viewer,
} from '../support/privacy-world.ts';
import { someOf } from '../support/seed.ts';

const SCOPES = someOf(['PUBLIC', 'FOLLOWERS', 'TEAM', 'DEPARTMENT', 'RESTRICTED'] as const, 1);
const ADMIN = { sub: 'root', roles: ['admin'] } as const;
const NONE = { count: 0, isExact: true };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

async function published(world: PrivacyWorld): Promise<Target> {
  const target = await publishTarget(world, 'thing');
  await app.idle();
  return target;
}

async function moderate(what: 'hideAction' | 'unhideAction' | 'deleteAction', id: string): Promise<void> {
  await ask(app, `mutation ($id: ID!) { ${what}(id: $id) { id } }`, { id }, ADMIN);
}

async function listed(id: string, includeHidden: boolean): Promise<boolean> {
  const { actions } = await ask<{ actions: { edges: { node: { id: string } }[] } }>(
    app,
    'query ($includeHidden: Boolean) { actions(includeHidden: $includeHidden, first: 100) { edges { node { id } } } }',
    { includeHidden },
    ADMIN,
  );
  return actions.edges.some(({ node }) => node.id === id);
}

/** Members who may do more to an action that is hidden than to one that is not there. */
const MAY_WHEN_HIDDEN: Readonly<Partial<Record<Write, readonly Viewer[]>>> = {
  hideFeedItem: ['admin'],
  unhideFeedItem: ['admin'],
  archiveFeedItem: ['admin'],
  unarchiveFeedItem: ['admin'],
  snoozeFeedItem: ['admin'],
  unsnoozeFeedItem: ['admin'],
  markItemsRead: ['admin'],
  markItemsUnread: ['admin'],
  bookmark: ['admin'],
  unbookmark: ['admin'],
  addInteraction: ['admin'],
  updateInteraction: ['admin'],
  removeInteraction: ['admin'],
  hideInteraction: ['admin'],
  unhideInteraction: ['admin'],
  hideAction: ['admin'],
  unhideAction: ['admin'],
  updateAction: ['admin'],
  // Of what is gone, too, an admin sees to it that it goes from the feeds.
  retryFanOut: ['admin'],
  // It is the actor's to delete all the same; so they learn when this is done twice.
  deleteAction: ['actor', 'admin'],
};
const MAY_WHEN_DELETED: typeof MAY_WHEN_HIDDEN = {
  retryFanOut: ['admin'],
  deleteAction: ['actor', 'admin'],
};

async function expectGone(
  world: PrivacyWorld,
  target: Target,
  mayStill: typeof MAY_WHEN_HIDDEN,
  seers: readonly Viewer[],
): Promise<void> {
  await expectUnseen(world, target, seers);
  for (const viewer of VIEWER_NAMES)
    await Promise.all(
      WRITE_NAMES.filter((way) => mayStill[way]?.includes(viewer) !== true).map((way) =>
        expectNothing(world, viewer, way, target),
      ),
    );
}

async function expectUnseen(world: PrivacyWorld, target: Target, seers: readonly Viewer[]): Promise<void> {
  for (const viewer of VIEWER_NAMES) {
    const reads = READ_NAMES.map((way) => {
      const isShown = seers.includes(viewer) && !FEED_READS.includes(way);
      return (isShown ? expectShown : expectNothing)(world, viewer, way, target);
    });
    await Promise.all(reads);
    expect([viewer, await unreadOf(world, viewer)]).toEqual([viewer, NONE]);
  }
}

test.each(SCOPES)('a hidden %s action is visible only to admins, on pages', async (scope) => {
  const world = await openPrivacyWorld(app, scope);
  const target = await published(world);
  await moderate('hideAction', target.actionId);
  await expectGone(world, target, MAY_WHEN_HIDDEN, ['admin']);
  await app.idle();
  await expectUnseen(world, target, ['admin']);
  for (const way of ['hideFeedItem', 'unhideFeedItem', 'hideAction'] as const)
    for (const viewer of MAY_WHEN_HIDDEN[way] ?? []) await expectShown(world, viewer, way, target);
  expect([await listed(target.actionId, false), await listed(target.actionId, true)]).toEqual([false, true]);
  await expectShown(world, 'actor', 'deleteAction', target);
  await expectUnseen(world, target, []);
});

test.each(SCOPES)('a deleted %s action is visible to nobody', async (scope) => {
  const world = await openPrivacyWorld(app, scope);
  const target = await published(world);
  await moderate('deleteAction', target.actionId);
  await expectUnseen(world, target, []);
  await app.idle();
  await expectGone(world, target, MAY_WHEN_DELETED, []);
  for (const viewer of ['actor', 'admin'] as const) await expectShown(world, viewer, 'deleteAction', target);
  expect([await listed(target.actionId, false), await listed(target.actionId, true)]).toEqual([false, false]);
});

test.each(['hideAction', 'deleteAction'] as const)(
  'a watcher that comes back after a %s gets nothing they may no longer see',
  async (what) => {
    const world = await openPrivacyWorld(app, 'PUBLIC');
    const { sub } = world.as('follower of the site');
    let after: string;
    {
      await using watcher = await watchFeed('SSE', app, sub);
      const first = await world.publish('first');
      const event = await watcher.next();
      expect(event).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id: first } } });
      after = event.cursor;
    }
    const { actionId } = await published(world);
    await moderate(what, actionId);
    await app.idle();
    const last = await world.publish('last');
    await using watcher = await openWatcher('WebSocket', app, sub, { after });
    const notified: string[] = [];
    for (;;) {
      const event = await watcher.next();
      if (event.__typename === 'FeedItemAdded' && event.item.action.id === last) break;
      notified.push(event.__typename);
    }
    expect(notified).toEqual(['FeedReady', 'FeedItemRemoved']);
  },
);
