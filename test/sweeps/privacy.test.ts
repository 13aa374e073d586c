import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeFeedGroupId } from '../../src/graphql/global-id.ts';
import { Closer } from '../../src/lib/closer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish } from '../support/feed-api.ts';
import { watchFeed, type FeedWatcher } from '../support/live-clients.ts';
import { AFTER, BEFORE, SCOPES, sightOf, type Sight } from '../support/privacy-table.ts';
import {
  COMMENT_TEXT,
  FEED_READS,
  itemIdOf,
  READ_NAMES,
  WRITE_NAMES,
  type Read,
  type Target,
  type Write,
} from '../support/privacy-ways.ts';
import {
  answerTo,
  expectNothing,
  expectShown,
  openPrivacyWorld,
  publishTarget,
  unreadOf,
  VIEWER_NAMES,
  type PrivacyWorld,
  type Viewer,
} from '../support/privacy-world.ts';
import { IS_DEEP, someOf } from '../support/seed.ts';

/** Members who may do something to an action although the table does not say so. */
const MAY: Readonly<Partial<Record<Write, (viewer: Viewer, sight: Sight) => boolean>>> = {
  hideFeedItem: (_viewer, sight) => sight !== 'no',
  unhideFeedItem: (_viewer, sight) => sight !== 'no',
  archiveFeedItem: (_viewer, sight) => sight !== 'no',
  unarchiveFeedItem: (_viewer, sight) => sight !== 'no',
  snoozeFeedItem: (_viewer, sight) => sight !== 'no',
  unsnoozeFeedItem: (_viewer, sight) => sight !== 'no',
  markItemsRead: (_viewer, sight) => sight !== 'no',
  markItemsUnread: (_viewer, sight) => sight !== 'no',
  bookmark: (_viewer, sight) => sight !== 'no',
  unbookmark: (_viewer, sight) => sight !== 'no',
  addInteraction: (_viewer, sight) => sight !== 'no',
  // The actor's own comment, which a service may take back in the actor's name.
  updateInteraction: (viewer) => viewer === 'admin' || viewer === 'actor',
  removeInteraction: (viewer) => viewer === 'admin' || viewer === 'actor' || viewer === 'service',
  hideInteraction: (viewer) => viewer === 'admin',
  unhideInteraction: (viewer) => viewer === 'admin',
  hideAction: (viewer) => viewer === 'admin',
  unhideAction: (viewer) => viewer === 'admin',
  // A service acts for the actor, and what it may do does not hang on what it is shown.
  updateAction: (viewer) => viewer === 'admin' || viewer === 'actor' || viewer === 'service',
  deleteAction: (viewer) => viewer === 'admin' || viewer === 'actor',
};

/** The message for who sees an action and may not do it. */
const FORBIDDEN: Readonly<Partial<Record<Write, string>>> = {
  deleteAction: 'Only its actor or an admin can delete an action',
  updateAction: 'Only its actor, a service or an admin can edit an action',
  updateInteraction: 'Only its actor or an admin can change an interaction',
  removeInteraction: 'Only its actor, a service or an admin can remove an interaction',
};

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Scene {
  readonly world: PrivacyWorld;
  readonly before: Target;
  readonly after: Target;
}

async function openScene(scope: string): Promise<Scene> {
  const world = await openPrivacyWorld(app, scope);
  const before = await publishTarget(world, 'before');
  await app.idle();
  await world.part();
  const after = await publishTarget(world, 'after');
  await app.idle();
  return { world, before, after };
}

/** Looked at where there is little doubt; a deep run looks by every way again. */
const FEW_READS: readonly Read[] = IS_DEEP ? READ_NAMES : ['feed', 'own group', 'slice', 'comment'];

async function expectSight(
  world: PrivacyWorld,
  viewer: Viewer,
  target: Target,
  sight: Sight,
  ways = READ_NAMES,
): Promise<void> {
  await Promise.all(
    ways.map((way) => {
      const isShown = sight === 'feed' || (sight === 'page' && !FEED_READS.includes(way));
      return (isShown ? expectShown : expectNothing)(world, viewer, way, target);
    }),
  );
}

/** A comment that is hidden is there for admins alone, one that is taken back for nobody. */
async function expectCommentsLost(world: PrivacyWorld, hidden: Target, removed: Target): Promise<void> {
  await expectShown(world, 'admin', 'hideInteraction', hidden);
  await expectShown(world, 'actor', 'removeInteraction', removed);
  await expectShown(world, 'admin', 'comment', hidden);
  for (const viewer of VIEWER_NAMES) {
    if (viewer !== 'admin') await expectNothing(world, viewer, 'comment', hidden);
    await expectNothing(world, viewer, 'comment', removed);
    await expectNothing(world, viewer, 'updateInteraction', removed);
    // Its actor and a service may take back what is hidden.
    if (!['admin', 'actor', 'service'].includes(viewer))
      for (const way of ['updateInteraction', 'removeInteraction'] as const)
        await expectNothing(world, viewer, way, hidden);
  }
  await expectShown(world, 'admin', 'unhideInteraction', hidden);
  await expectShown(world, 'actor', 'comment', hidden);
}

const ITEMS = `query ($ids: [ID!]!, ${VIEWER_NAMES.map((_, n) => `$id${String(n)}: ID!`).join(', ')}) {
  nodes(ids: $ids) { id }
  ${VIEWER_NAMES.map((_, n) => `node${String(n)}: node(id: $id${String(n)}) { id }`).join(' ')}
}`;

/** To all others it makes no difference whether it was published before these left. */
const PARTED = VIEWER_NAMES.filter((viewer) => viewer.startsWith('former follower'));

/** In a usual run. With three of them, each viewer is refused each way for one. */
const CHANGED = someOf(SCOPES, 3);
const WATCHED = someOf(SCOPES, 2);

describe.each(SCOPES)('a %s action', (scope) => {
  let world: PrivacyWorld;
  let before: Target;
  let after: Target;
  beforeAll(async () => {
    ({ world, before, after } = await openScene(scope));
  });

  test('is visible to its audience everywhere', async () => {
    for (const viewer of VIEWER_NAMES) {
      const sights = [sightOf(BEFORE, viewer, scope), sightOf(AFTER, viewer, scope)] as const;
      const ways = IS_DEEP || PARTED.includes(viewer) ? READ_NAMES : FEW_READS;
      await expectSight(world, viewer, before, sights[0], ways);
      await expectSight(world, viewer, after, sights[1]);
      const number = { count: sights.filter((sight) => sight === 'feed').length, isExact: true };
      expect([viewer, await unreadOf(world, viewer)]).toEqual([viewer, number]);
    }
  });

  test.each([
    ['item', (userId: string) => itemIdOf(userId, before.actionId)],
    ['group', (userId: string) => encodeFeedGroupId(userId, before.groupKey)],
  ] as const)('as %s is visible only to its owner', async (_what, idOf) => {
    const ids = VIEWER_NAMES.map((holder) => idOf(world.id(holder)));
    const variables = { ids, ...Object.fromEntries(ids.map((id, n) => [`id${String(n)}`, id])) };
    for (const viewer of VIEWER_NAMES) {
      const own = ids.map((id, n) =>
        VIEWER_NAMES[n] === viewer && sightOf(BEFORE, viewer, scope) === 'feed' ? { id } : null,
      );
      const single = Object.fromEntries(own.map((item, n) => [`node${String(n)}`, item]));
      const answer = await ask<object>(app, ITEMS, variables, world.as(viewer));
      expect([viewer, answer]).toEqual([viewer, { nodes: own, ...single }]);
    }
  });

  test.runIf(CHANGED.includes(scope))('can be changed only by members who may see it', async () => {
    const destructive: readonly Write[] = [
      ...(['hideAction', 'unhideAction', 'deleteAction'] as const),
      ...(['hideInteraction', 'unhideInteraction', 'removeInteraction'] as const),
    ];
    for (const [table, target, viewers] of [
      [BEFORE, before, IS_DEEP ? VIEWER_NAMES : PARTED],
      [AFTER, after, VIEWER_NAMES],
    ] as const)
      for (const viewer of viewers) {
        const sight = sightOf(table, viewer, scope);
        for (const [n, way] of WRITE_NAMES.entries()) {
          const mayDo = MAY[way]?.(viewer, sight) ?? false;
          if (destructive.includes(way) && mayDo) continue;
          // In a usual run each viewer is refused each way for some of the scopes.
          const turn = n + VIEWER_NAMES.indexOf(viewer) + SCOPES.indexOf(scope);
          if (!IS_DEEP && !mayDo && turn % 3 > 0) continue;
          if (mayDo) await expectShown(world, viewer, way, target);
          else if (FORBIDDEN[way] !== undefined && sight !== 'no')
            expect(await answerTo(world, viewer, way, target)).toMatchObject({
              data: null,
              errors: [{ message: FORBIDDEN[way], extensions: { code: 'FORBIDDEN' } }],
            });
          else if (way === 'retryFanOut' && viewer === 'admin')
            expect(await answerTo(world, viewer, way, target)).toMatchObject({
              errors: [{ extensions: { code: 'CONFLICT' } }],
            });
          else await expectNothing(world, viewer, way, target);
        }
        await expectSight(world, viewer, target, sight, FEW_READS);
      }
    await expectCommentsLost(world, before, after);
    await expectShown(world, 'actor', 'deleteAction', before);
    await expectShown(world, 'admin', 'deleteAction', after);
  });
});

/** What a watcher was told, in a line. */
function lineOf(event: Awaited<ReturnType<FeedWatcher['next']>>, names: ReadonlyMap<string, string>): string {
  const id =
    'item' in event ? event.item.action.id : 'actionId' in event ? event.actionId : JSON.stringify(event);
  const comments = 'item' in event ? (event.item.action.interactions?.edges ?? []) : [];
  const said = comments.map(({ node }) => `: ${String(node.text)}`);
  return `${event.__typename.slice('FeedItem'.length).toLowerCase()} ${names.get(id) ?? id}${said.join('')}`;
}

test.each(WATCHED)('watchers of a %s action receive exactly what the feed shows them', async (scope) => {
  const world = await openPrivacyWorld(app, scope);
  await using crowd = new Closer();
  const watchers = new Map<Viewer, FeedWatcher>();
  for (const [n, viewer] of VIEWER_NAMES.entries()) {
    const { sub, roles } = world.as(viewer);
    const asThem = { url: app.url, wsUrl: app.wsUrl, token: () => app.token(sub, roles) };
    const transport = n % 2 === 0 ? 'SSE' : 'WebSocket';
    watchers.set(viewer, crowd.own(await watchFeed(transport, asThem, sub, { comments: true })));
  }
  const names = new Map<string, string>();
  const heard = new Map<Viewer, string[]>(VIEWER_NAMES.map((viewer) => [viewer, []]));
  const listen = async (viewer: Viewer, end: string): Promise<string[]> => {
    const watcher = watchers.get(viewer);
    const lines = heard.get(viewer);
    if (watcher === undefined || lines === undefined) throw new Error(`${viewer} does not watch`);
    do lines.push(lineOf(await watcher.next(), names));
    while (lines.at(-1) !== end);
    return lines;
  };
  const published = async (name: string): Promise<string> => {
    const id = await world.publish(name);
    names.set(id, name);
    await app.idle();
    await world.passOn(id);
    await app.idle();
    return id;
  };
  const before = await published('before');
  await world.part();
  const after = await published('after');
  for (const [id, name, when] of [
    [before, 'before', BEFORE],
    [after, 'after', AFTER],
  ] as const) {
    const commentId = await world.comment(id);
    await app.idle();
    // Who is slow to be shown the comment would be shown that it is hidden.
    for (const viewer of VIEWER_NAMES)
      if (sightOf(when, viewer, scope) === 'feed') await listen(viewer, `updated ${name}: ${COMMENT_TEXT}`);
    const hideComment = 'mutation ($id: ID!) { hideInteraction(id: $id) { id } }';
    await ask(app, hideComment, { id: commentId }, world.as('admin'));
    await app.idle();
  }
  for (const id of [before, after]) {
    const hide = 'mutation ($id: ID!) { hideAction(id: $id) { id } }';
    await ask(app, hide, { id }, world.as('admin'));
    await app.idle();
  }
  const recipients = VIEWER_NAMES.map((viewer) => world.id(viewer));
  const last = await publish(app, { actorId: 'last', scope: 'RESTRICTED', recipients });

  names.set(last, 'last');
  for (const viewer of VIEWER_NAMES) {
    const hasBefore = sightOf(BEFORE, viewer, scope) === 'feed';
    const hasAfter = sightOf(AFTER, viewer, scope) === 'feed';
    // They had it until they took it back.
    const hadBefore =
      viewer === 'former follower, history taken back' &&
      sightOf(AFTER, 'follower of the site', scope) === 'feed';
    // It is stored for them, and kept out of what they are shown. A removal says no more than that it is gone.
    const isMuting = viewer === 'mentioned, but mutes the actor';
    // All others had it already when it was passed on.
    const added = (name: string): string[] =>
      viewer === 'follower of who passes it on' ? [`added ${name}`] : [`added ${name}`, `updated ${name}`];
    const expected = [
      ...(hasBefore || hadBefore ? added('before') : []),
      ...(hadBefore ? ['removed before'] : []),
      ...(hasAfter ? added('after') : []),
      // When it was said, and when it was hidden.
      ...(hasBefore ? [`updated before: ${COMMENT_TEXT}`, 'updated before'] : []),
      ...(hasAfter ? [`updated after: ${COMMENT_TEXT}`, 'updated after'] : []),
      ...(hasBefore || isMuting ? ['removed before'] : []),
      ...(hasAfter || isMuting ? ['removed after'] : []),
    ];
    expect([viewer, ...(await listen(viewer, 'added last'))]).toEqual([viewer, ...expected, 'added last']);
  }
});
