import { openOffline, type OfflineStore } from '@fanfare/client/offline';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Closer } from '../../src/lib/closer.ts';
import { startTcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { textOf } from '../support/frontends/lists.ts';
import { PACKAGES } from '../support/frontends/packages.ts';
import { openSetting } from '../support/frontends/screen.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const WAIT = { timeout: PATIENCE_MS };
const FIRST = 3;

const RECORDED = `query ($id: ID!) { action(id: $id) { engagement { likes } viewer { isBookmarked }
  interactions(first: 50, kinds: [COMMENT]) { edges { node { text } } } } }`;
interface Recorded {
  readonly action: {
    readonly engagement: { readonly likes: number };
    readonly viewer: { readonly isBookmarked: boolean };
    readonly interactions: { readonly edges: readonly { readonly node: { readonly text: string } }[] };
  };
}

/** What a browser keeps. */
function browserStore(): OfflineStore & { readonly kept: Map<string, unknown> } {
  const kept = new Map<string, unknown>();
  return {
    kept,
    get: (key) => Promise.resolve(kept.get(key)),
    set: (key, value) => Promise.resolve(void kept.set(key, value)),
    del: (key) => Promise.resolve(void kept.delete(key)),
    keys: () => Promise.resolve([...kept.keys()]),
  };
}

async function openScene(closer: Closer, [, open]: (typeof PACKAGES)[number]) {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  const wire = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
  const place = `127.0.0.1:${String(wire.port)}`;
  const store = browserStore();
  const sent = vi.spyOn(globalThis, 'fetch');
  closer.own({
    [Symbol.asyncDispose]() {
      sent.mockRestore();
      return Promise.resolve();
    },
  });
  const keysOf = (start: string): string[] =>
    [...store.kept.keys()].filter((key) => key.startsWith(`fanfare ${start}`));
  return {
    ...{ reader, actor, wire, store, keysOf },
    async post(title: string): Promise<string> {
      const descriptor = { posted: { postId: title, postTitle: title } };
      const id = await publish(app, { actorId: actor, mentions: [reader], descriptor });
      await app.idle();
      return id;
    },
    async recorded(id: string) {
      const { action } = await ask<Recorded>(app, RECORDED, { id }, { sub: reader });
      const texts = action.interactions.edges.map(({ node }) => node.text);
      return [action.engagement.likes, action.viewer.isBookmarked, ...texts];
    },
    /** What is kept of a list, and has this in it. */
    isKept: (name: string, text: string): Promise<void> =>
      vi.waitFor(() => {
        const list = keysOf(`list ["${name}"`).map((key) => String(store.kept.get(key)));
        expect(list.join()).toContain(text);
      }, WAIT),
    /** Another page of the same browser. Leaving it does not sign out. */
    async page() {
      const said: string[] = [];
      const offline = await openOffline({
        ...{ store, readerKey: reader, onProblem: ({ kind }) => said.push(kind) },
        onGivenUp: ({ name }, { code }) => said.push(`${name} ${code}`),
      });
      const before = sent.mock.calls.length;
      const messages: string[] = [];
      const setting = openSetting(app, reader, {
        ...{ url: `http://${place}`, wsUrl: `ws://${place}/graphql`, first: FIRST },
      });
      const { fanfare, view, close } = open({
        ...{ ...setting, offline },
        onSent: (message) => messages.push(message),
      });
      const feed = fanfare.feed({ first: FIRST });
      const stops: (() => void)[] = [];
      return {
        ...{ fanfare, feed, view, said },
        watch(...lists: readonly { watch(): () => void }[]) {
          for (const list of lists) stops.push(list.watch());
        },
        titles: () => (feed.read()?.edges ?? []).map(({ node }) => textOf(node.action)),
        /** Those of this page. */
        requests: () =>
          sent.mock.calls.slice(before).filter(([url]) => (url as string | URL).toString().includes(place))
            .length,
        /** Where each subscription of a feed or of notifications has begun. */
        resumed: () => messages.flatMap((message) => /"after":"([^"]+)"/.exec(message)?.slice(1) ?? []),
        leave() {
          for (const stop of stops) stop();
          close();
          offline.close();
        },
      };
    },
  };
}

describe.each(PACKAGES)('%s', (...frontend) => {
  test('a page that is opened again shows all lists at once, and asks only for what has happened since', async () => {
    await using closer = new Closer();
    const { actor, wire, post, page, isKept, store } = await openScene(closer, frontend);
    const [below] = [await post('Below'), await post('One'), await post('Two'), await post('Three')];
    const first = await page();
    const lists = (one: typeof first) => ({
      slice: one.fanfare.list('slice', { refId: actor, first: FIRST }),
      comments: one.fanfare.list('comments', { actionId: below, first: FIRST }),
      bell: one.fanfare.notifications(),
    });
    const { slice, comments, bell } = lists(first);
    await first.feed.load();
    await first.feed.loadMore();
    await comments.load();
    first.watch(first.feed, slice, comments, bell);
    await first.fanfare.comment(below, 'Said');
    const last = await post('Four');
    await vi.waitFor(() => expect(first.titles()[0]).toContain('Four'), WAIT);
    await isKept('feed', 'Four');
    await isKept('slice', 'Four');
    await isKept('comments', 'Said');
    await isKept('notifications', last);
    const [shown, sentences] = [first.titles(), slice.read()?.edges.map(({ node }) => textOf(node))];
    first.leave();
    await post('Meanwhile');

    const second = await page();
    expect(second.titles()).toEqual(shown);
    expect(second.titles()[0]).toContain('Four');
    const again = lists(second);
    expect(again.slice.read()?.edges.map(({ node }) => textOf(node))).toEqual(sentences);
    expect(again.comments.read()?.edges.map(({ node }) => textOf(node))).toEqual(['Said']);
    expect(again.bell.read()?.edges).toHaveLength(5);
    const screen = second.view(second.feed) as () => {
      readonly feed: { readonly edges: readonly unknown[] };
    };
    expect(screen().feed.edges).toHaveLength(5);
    const cursors = [second.feed.read()?.liveCursor, again.bell.read()?.liveCursor];
    second.watch(second.feed, again.bell);
    await vi.waitFor(() => expect(second.titles()).toHaveLength(6), WAIT);
    await vi.waitFor(() => expect(again.bell.read()?.edges).toHaveLength(6), WAIT);
    expect(second.titles()[0]).toContain('Meanwhile');
    expect([second.requests(), second.resumed().sort()]).toEqual([0, cursors.sort()]);
    // And below, where the pages ended.
    expect(second.feed.read()?.pageInfo.hasNextPage).toBe(false);
    expect(second.said).toEqual([]);
    second.leave();

    wire.cut();
    store.kept.set('fanfare who', 'somebody else');
    const third = await page();
    expect([third.titles(), third.fanfare.notifications().read()]).toEqual([[], undefined]);
    third.leave();
  });

  test('what a reader does without a connection is shown, outlives the page, and happens once, in order', async () => {
    await using closer = new Closer();
    const { wire, post, page, isKept, keysOf, recorded } = await openScene(closer, frontend);
    const id = await post('Timetable');
    const first = await page();
    const commentsOf = (one: typeof first) => one.fanfare.list('comments', { actionId: id, first: FIRST });
    const texts = (one: typeof first) =>
      commentsOf(one)
        .read()
        ?.edges.map(({ node }) => textOf(node));
    const action = (one: typeof first) => one.feed.read()?.edges[0]?.node.action;
    const shows = (one: typeof first, likes: number, ...said: readonly string[]): void => {
      expect(texts(one)).toEqual(said);
      expect(action(one)).toMatchObject({
        engagement: { likes, comments: said.length },
        viewer: { hasLiked: likes > 0, isBookmarked: likes > 0 },
      });
    };
    await first.feed.load();
    await commentsOf(first).load();
    first.watch(first.feed);
    await isKept('feed', 'Timetable');
    await isKept('comments', 'interactions');
    wire.cut();
    const done = [
      ...[first.fanfare.comment(id, 'First thought'), first.fanfare.like(id)],
      ...[first.fanfare.bookmark(id), first.fanfare.comment(id, 'Second thought')],
    ];
    for (const one of done) one.catch(() => undefined);
    shows(first, 1, 'Second thought', 'First thought');
    await vi.waitFor(() => expect(keysOf('write ')).toHaveLength(4), WAIT);
    first.leave();

    const second = await page();
    shows(second, 1, 'Second thought', 'First thought');
    second.watch(second.feed, commentsOf(second));
    expect(await recorded(id)).toEqual([0, false]);
    wire.heal();
    await vi.waitFor(
      async () => expect(await recorded(id)).toEqual([1, true, 'Second thought', 'First thought']),
      WAIT,
    );
    await vi.waitFor(() => expect(keysOf('write ')).toEqual([]), WAIT);
    await vi.waitFor(() => shows(second, 1, 'Second thought', 'First thought'), WAIT);
    // Confirmed: it is kept as what is so.
    await isKept('comments', 'Second thought');
    await vi.waitFor(
      () =>
        expect(
          commentsOf(second)
            .read()
            ?.edges.map(({ node }) => node.id.startsWith('sending')),
        ).toEqual([false, false]),
      WAIT,
    );
    expect(second.said).toEqual([]);
    second.leave();
  });

  test('what the server refuses is taken back and said, what is behind it goes on, and signing out clears all', async () => {
    await using closer = new Closer();
    const { actor, wire, post, page, keysOf, isKept, recorded, store } = await openScene(closer, frontend);
    const [gone, id] = [await post('Gone'), await post('There')];
    const first = await page();
    await first.feed.load();
    first.watch(first.feed);
    await isKept('feed', 'There');
    wire.cut();
    for (const one of [gone, id]) first.fanfare.like(one).catch(() => undefined);
    await vi.waitFor(() => expect(keysOf('write ')).toHaveLength(2), WAIT);
    first.leave();
    await ask(app, 'mutation ($id: ID!) { deleteAction(id: $id) { id } }', { id: gone }, { sub: actor });
    await app.idle();

    const second = await page();
    const likes = () => second.feed.read()?.edges.map(({ node }) => node.action.engagement.likes);
    expect(likes()).toEqual([1, 1]);
    wire.heal();
    await vi.waitFor(() => expect(keysOf('write ')).toEqual([]), WAIT);
    await vi.waitFor(() => expect(likes()).toEqual([1, 0]), WAIT);
    expect([second.said, await recorded(id)]).toEqual([['addInteraction NOT_FOUND'], [1, false]]);
    wire.cut();
    const waits = second.fanfare.unlike(id);
    waits.catch(() => undefined);
    await vi.waitFor(() => expect(keysOf('write ')).toHaveLength(1), WAIT);
    second.fanfare.close();
    await expect(waits).rejects.toThrow();
    await vi.waitFor(() => expect([...store.kept.keys()]).toEqual([]), WAIT);
    wire.heal();
    expect(await recorded(id)).toEqual([1, false]);
  });
});
