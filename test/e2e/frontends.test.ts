import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Closer } from '../../src/lib/closer.ts';
import { startTcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { FRONTENDS } from '../support/frontends/index.ts';
import {
  openScreen,
  shownItems,
  type OpenScreen,
  type Screen,
  type ScreenOptions,
  type Shown,
} from '../support/frontends/screen.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { uniqueName } from '../support/unique-name.ts';
import { FEED, type FeedPage } from '../../docs/examples/frontends/documents.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const INTERACT =
  'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }';

interface Scene {
  readonly reader: string;
  readonly actor: string;
  /** Publishes so many actions for the reader, one after the other. */
  publishMany(count: number): Promise<string[]>;
  /** Somebody comments: the action comes up. */
  bump(actionId: string): Promise<void>;
  hide(actionId: string): Promise<void>;
  open(options?: ScreenOptions): Promise<Screen>;
}

async function openScene(closer: Closer, frontend: OpenScreen): Promise<Scene> {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  return {
    ...{ reader, actor },
    async publishMany(count) {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1)
        ids.unshift(await publish(app, { actorId: actor, mentions: [reader] }));
      await app.idle();
      return ids;
    },
    async bump(actionId) {
      await ask(app, INTERACT, { input: { actionId, kind: 'COMMENT', actorId: actor } });
      await app.idle();
    },
    async hide(actionId) {
      await ask(
        app,
        'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
        { id: actionId },
        { sub: reader },
      );
    },
    open: async (options) => closer.own(await openScreen(frontend, app, reader, options)),
  };
}

/** The feed as the server has it, in one page. */
async function truthOf(reader: string): Promise<readonly Shown[]> {
  return shownItems((await ask<{ feed: FeedPage }>(app, FEED, { first: 100 }, { sub: reader })).feed);
}

/** Waits until the screen shows this. */
const shows = async (screen: Screen, items: () => Promise<readonly unknown[]>): Promise<void> =>
  vi.waitFor(async () => expect(screen.items()).toEqual(await items()), { timeout: PATIENCE_MS });

const idsOn = (screen: Screen): string[] => screen.items().map(({ actionId }) => actionId);

const likesOn = (screen: Screen): unknown => screen.items().map(({ likes, hasLiked }) => [likes, hasLiked]);

const likesAre = (screen: Screen, ...likes: readonly [number, boolean][]): Promise<void> =>
  vi.waitFor(() => expect(likesOn(screen)).toEqual(likes), { timeout: PATIENCE_MS });

describe.each(FRONTENDS)('%s', (_name, frontend) => {
  test('shows additions, moves and removals at the right place', async () => {
    await using closer = new Closer();
    const { reader, publishMany, bump, hide, open } = await openScene(closer, frontend);
    const old = await publishMany(3);
    const screen = await open();
    expect(idsOn(screen)).toEqual(old);
    const [added] = await publishMany(1);
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([added, ...old]);
    await bump(old[2] ?? '');
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([old[2], added, old[0], old[1]]);
    expect(screen.items()[0]?.comments).toBe(1);
    await hide(added ?? '');
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([old[2], old[0], old[1]]);
  });

  test('small pages give the same as one large page while others publish and comment', async () => {
    await using closer = new Closer();
    const { reader, publishMany, bump, hide, open } = await openScene(closer, frontend);
    const old = await publishMany(10);
    const screen = await open({ first: 3 });
    expect(idsOn(screen)).toEqual(old.slice(0, 3));
    // The last of the page goes up, and what lies below goes up or away, before the next page and while it is on its way.
    await bump(old[2] ?? '');
    await screen.loadMore();
    await Promise.all([screen.loadMore(), bump(old[8] ?? ''), hide(old[9] ?? ''), publishMany(2)]);
    while (screen.hasNextPage()) await screen.loadMore();
    await shows(screen, () => truthOf(reader));
    expect(screen.items().length).toBe(11);
  });

  test('ends if the next page is empty', async () => {
    await using closer = new Closer();
    const { reader, publishMany, hide, open } = await openScene(closer, frontend);
    const [first, second, ...below] = await publishMany(4);
    const screen = await open({ first: 2 });
    for (const id of below) await hide(id);
    expect(screen.hasNextPage()).toBe(true);
    await screen.loadMore();
    expect(idsOn(screen)).toEqual([first, second]);
    await vi.waitFor(() => expect(screen.hasNextPage()).toBe(false), { timeout: PATIENCE_MS });
    const [added] = await publishMany(1);
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([added, first, second]);
  });

  test('reads the first page again after a resync', async () => {
    await using closer = new Closer();
    const { reader, actor, publishMany, open } = await openScene(closer, frontend);
    await publishMany(5);
    const screen = await open({ first: 2 });
    await screen.loadMore();
    const other = uniqueName('actor');
    const kept = await publish(app, { actorId: other, mentions: [reader] });
    await app.idle();
    await shows(screen, async () => (await truthOf(reader)).slice(0, 5));
    await ask(
      app,
      'mutation ($id: String!) { addMute(target: { memberId: $id }) { memberId } }',
      { id: actor },
      { sub: reader },
    );
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([kept]);
    const added = await publish(app, { actorId: other, mentions: [reader] });
    await app.idle();
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([added, kept]);
  });

  test('reads the first page after a resync until that succeeds', async () => {
    await using closer = new Closer();
    const { reader, actor, publishMany, open } = await openScene(closer, frontend);
    const requests = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
    const old = await publishMany(2);
    let events = 0;
    const screen = await open({
      url: `http://127.0.0.1:${String(requests.port)}`,
      onHeld: () => (events += 1),
    });
    const before = events;
    requests.cut();
    await ask(
      app,
      'mutation ($id: String!) { addMute(target: { memberId: $id }) { memberId } }',
      { id: actor },
      { sub: reader },
    );
    await vi.waitFor(() => expect(events).toBeGreaterThan(before), { timeout: PATIENCE_MS });
    expect(idsOn(screen)).toEqual(old);
    requests.heal();
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([]);
  });

  test('resumes after a lost connection, without reading the feed again', async () => {
    await using closer = new Closer();
    const { reader, publishMany, open } = await openScene(closer, frontend);
    const requests = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
    const events = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
    const screen = await open({
      url: `http://127.0.0.1:${String(requests.port)}`,
      wsUrl: `ws://127.0.0.1:${String(events.port)}/graphql`,
    });
    requests.cut();
    await publishMany(1);
    await shows(screen, () => truthOf(reader));
    for (let round = 0; round < 2; round += 1) {
      events.cut();
      await publishMany(2);
      events.heal();
      await shows(screen, () => truthOf(reader));
    }
    expect(screen.items().length).toBe(5);
  });

  test('shows a like at once, and undoes it if it fails', async () => {
    await using closer = new Closer();
    const { publishMany, open } = await openScene(closer, frontend);
    const requests = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
    const [id = ''] = await publishMany(1);
    const screen = await open({ url: `http://127.0.0.1:${String(requests.port)}` });
    // A connection that was cut could fail the request before it is shown.
    requests.freeze();
    const lost = screen.like(id);
    await likesAre(screen, [1, true]);
    requests.cut();
    await expect(lost).rejects.toThrow();
    await likesAre(screen, [0, false]);
  });

  test('removes a like at once, and restores it if that fails', async () => {
    await using closer = new Closer();
    const { publishMany, open } = await openScene(closer, frontend);
    const requests = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
    const [id = ''] = await publishMany(1);
    const screen = await open({ url: `http://127.0.0.1:${String(requests.port)}` });
    await screen.like(id);
    await likesAre(screen, [1, true]);
    // A connection that was cut could fail the request before it is shown.
    requests.freeze();
    const lost = screen.unlike(id);
    await likesAre(screen, [0, false]);
    requests.cut();
    await expect(lost).rejects.toThrow();
    await likesAre(screen, [1, true]);
  });

  test('undoes a like that the server rejects', async () => {
    await using closer = new Closer();
    const { publishMany, open } = await openScene(closer, frontend);
    const [id = ''] = await publishMany(1);
    const screen = await open({ isLive: false });
    await ask(
      app,
      'mutation ($id: ID!) { deleteAction(id: $id) { id } }',
      { id },
      { sub: 'boss', roles: ['admin'] },
    );
    await expect(screen.like(id)).rejects.toThrow();
    await likesAre(screen, [0, false]);
  });

  test('a like and its removal keep the likes of others meanwhile', async () => {
    await using closer = new Closer();
    const { reader, actor, publishMany, open } = await openScene(closer, frontend);
    const [id = ''] = await publishMany(1);
    const screen = await open();
    await screen.like(id);
    await likesAre(screen, [1, true]);
    await Promise.all([
      screen.unlike(id),
      ask(app, INTERACT, { input: { actionId: id, kind: 'LIKE', actorId: actor } }),
    ]);
    await app.idle();
    await likesAre(screen, [1, false]);
    await shows(screen, () => truthOf(reader));
  });

  test('holds new and moved items back until they are requested', async () => {
    await using closer = new Closer();
    const { reader, actor, publishMany, bump, hide, open } = await openScene(closer, frontend);
    const own = { actionId: (await publishMany(3))[1], kind: 'LIKE' };
    await ask(app, INTERACT, { input: { ...own, actorId: actor } });
    await app.idle();
    let held = 0;
    const screen = await open({ onHeld: (count) => (held = count) });
    const old = idsOn(screen);
    const liked = (): unknown => screen.items().find(({ actionId }) => actionId === own.actionId)?.likes;
    expect(liked()).toBe(1);
    const heldAre = (count: number): Promise<void> =>
      vi.waitFor(() => expect(held).toBe(count), { timeout: PATIENCE_MS });
    screen.hold();
    // What was liked and is not any more stays where it is.
    await ask(
      app,
      'mutation ($own: OwnInteraction!) { removeInteraction(input: { own: $own }) { isReplay } }',
      { own },
      { sub: actor },
    );
    await app.idle();
    await vi.waitFor(() => expect(liked()).toBe(0), { timeout: PATIENCE_MS });
    expect(held).toBe(0);
    const [first, second] = await publishMany(2);
    await bump(old[2] ?? '');
    await heldAre(3);
    expect(idsOn(screen)).toEqual(old);
    await hide(old[0] ?? '');
    await hide(second ?? '');
    await heldAre(2);
    expect(idsOn(screen)).toEqual(old.slice(1));
    screen.show();
    await shows(screen, () => truthOf(reader));
    expect(idsOn(screen)).toEqual([old[2], first, old[1]]);
    expect(held).toBe(0);
  });
});

describe.each(FRONTENDS.filter(([name]) => name !== 'TanStack Query'))(
  'the cache of %s',
  (_name, frontend) => {
    test('has each action once, whichever query returns it', async () => {
      await using closer = new Closer();
      const { actor, publishMany, open } = await openScene(closer, frontend);
      const [id = ''] = await publishMany(1);
      const screen = await open({ isLive: false });
      await ask(app, INTERACT, { input: { actionId: id, kind: 'LIKE', actorId: actor } });
      expect(likesOn(screen)).toEqual([[0, false]]);
      await screen.readAction?.(id);
      await likesAre(screen, [1, false]);
      expect(screen.items()[0]?.comments).toBe(0);
    });
  },
);

test('likes, their removal and comments of four readers with four frontends are consistent everywhere', async () => {
  await using closer = new Closer();
  const actor = uniqueName('actor');
  const readers = FRONTENDS.map(() => uniqueName('reader'));
  await upsert(app, { pairs: readers.map((followerId) => ({ followerId, refId: actor })) });
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push(await publish(app, { actorId: actor, mentions: readers }));
  await app.idle();
  const screens: Screen[] = [];
  for (const [index, [, frontend]] of FRONTENDS.entries())
    screens.push(closer.own(await openScreen(frontend, app, readers[index] ?? '')));
  const deeds = screens.flatMap((screen, index) => {
    const [liked = '', undone = '', commented = ''] = [
      ids[index % 3],
      ids[(index + 1) % 3],
      ids[(index + 2) % 3],
    ];
    const comment = { actionId: commented, kind: 'COMMENT', actorId: readers[index] };
    return [
      screen.like(liked),
      screen.like(undone).then(() => screen.unlike(undone)),
      ask(app, INTERACT, { input: comment }),
    ];
  });
  await Promise.all(deeds);
  await app.idle();
  for (const [index, screen] of screens.entries()) await shows(screen, () => truthOf(readers[index] ?? ''));
  const counts = (screen: Screen): unknown =>
    screen
      .items()
      .map(({ actionId, likes, comments }) => ({ actionId, likes, comments }))
      .sort((a, b) => a.actionId.localeCompare(b.actionId));
  for (const screen of screens) expect(counts(screen)).toEqual(counts(screens[0] ?? screen));
  const likes = screens.map((screen) => screen.items().reduce((sum, item) => sum + item.likes, 0));
  expect(likes).toEqual([4, 4, 4, 4]);
});
