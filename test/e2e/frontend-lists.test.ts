import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Closer } from '../../src/lib/closer.ts';
import { startTcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { listIn, type ListAnswer, type ListVariables } from '@fanfare/client/cache';
import { LISTS, textOf, type ListName } from '../support/frontends/lists.ts';
import { openListsOf, PACKAGES } from '../support/frontends/packages.ts';
import { openSetting } from '../support/frontends/screen.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const WAIT = { timeout: PATIENCE_MS };
const PAGE = 2;

/** A list as the server has it, in one page. */
async function truthOf(name: ListName, variables: ListVariables, sub: string): Promise<string[]> {
  const answer = await ask<ListAnswer>(app, LISTS[name], { ...variables, first: 50 }, { sub });
  return listIn(answer)?.edges.map(({ node }) => textOf(node)) ?? [];
}

async function openScene(closer: Closer, open: ReturnType<typeof openListsOf>, url = app.url) {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  const post = async (title: string): Promise<string> => {
    const descriptor = { posted: { postId: title, postTitle: title } };
    const id = await publish(app, { actorId: actor, mentions: [reader], descriptor });
    await app.idle();
    return id;
  };
  const variables: Record<ListName, ListVariables> = {
    slice: { refId: actor, first: PAGE },
    ...{ bookmarks: { first: PAGE }, comments: { actionId: '', first: PAGE }, groups: { first: PAGE } },
  };
  const lists = closer.own(await open(openSetting(app, reader, { url })));
  return {
    ...{ reader, actor, post, variables, lists },
    /** Loads all of it, and waits until it is what the server has: so many. */
    isWhole: (name: ListName, count: number): Promise<void> =>
      vi.waitFor(async () => {
        await lists.loadMore(name);
        expect(lists.shown(name)).toEqual(await truthOf(name, variables[name], reader));
        expect(lists.shown(name)).toHaveLength(count);
      }, WAIT),
    /** Loads more until so many are shown: events may have the list read again meanwhile. */
    showsAtLeast: (name: ListName, count: number): Promise<void> =>
      vi.waitFor(async () => {
        if (lists.shown(name).length < count) await lists.loadMore(name);
        expect(lists.shown(name).length).toBeGreaterThanOrEqual(count);
      }, WAIT),
    /** @returns the id of the comment */
    say: async (actionId: string, text: string): Promise<string> => {
      const said = await ask<Said>(app, SAY, { actionId, text }, { sub: reader });
      return said.addInteraction.interaction.id;
    },
  };
}

const SAY = `mutation ($actionId: ID!, $text: String!) {
  addInteraction(input: { actionId: $actionId, kind: COMMENT, text: $text }) { interaction { id } }
}`;

async function inOrder<T>(texts: readonly string[], of: (text: string) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (const text of texts) all.push(await of(text));
  return all;
}

interface Said {
  readonly addInteraction: { readonly interaction: { readonly id: string } };
}

const isOnce = (shown: readonly string[]): void => expect(new Set(shown).size).toBe(shown.length);

describe.each(PACKAGES)('lists of %s', (_name, openIn) => {
  const open = openListsOf(openIn);

  test('a slice is loaded page by page, new actions appear in it once, and deleted ones disappear', async () => {
    await using closer = new Closer();
    const { lists, variables, post, isWhole, showsAtLeast } = await openScene(closer, open);
    const ids = [];
    for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) ids.push(await post(title));
    await lists.open('slice', variables.slice);
    await showsAtLeast('slice', 2 * PAGE);
    await vi.waitFor(() => expect(lists.shown('slice')).toHaveLength(2 * PAGE), WAIT);
    await post('Six');
    await vi.waitFor(() => expect(lists.shown('slice')[0]).toContain('Six'), WAIT);
    // What was loaded is loaded again.
    await vi.waitFor(() => expect(lists.shown('slice').length).toBeGreaterThanOrEqual(2 * PAGE), WAIT);
    isOnce(lists.shown('slice'));
    await ask(
      app,
      'mutation ($id: ID!) { deleteAction(id: $id) { id } }',
      { id: ids[2] },
      { sub: 'boss', roles: ['admin'] },
    );
    await vi.waitFor(() => expect(lists.shown('slice').join()).not.toContain('Three'), WAIT);
    await isWhole('slice', 5);
  });

  test('a bookmark is first at once and only once, its removal takes it out, and a failed change is undone', async () => {
    await using closer = new Closer();
    const requests = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
    const url = `http://127.0.0.1:${String(requests.port)}`;
    const { lists, variables, post, isWhole } = await openScene(closer, open, url);
    const ids: string[] = [];
    for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) ids.push(await post(title));
    await lists.open('slice', { ...variables.slice, first: 5 });
    await lists.open('bookmarks', variables.bookmarks);
    for (const id of ids.slice(0, 4)) await lists.bookmark(id);
    await isWhole('bookmarks', 4);
    const before = lists.shown('bookmarks');
    // A connection that was cut could fail the request before it is shown.
    requests.freeze();
    const [kept, dropped] = [lists.bookmark(ids[4] ?? ''), lists.unbookmark(ids[1] ?? '')];
    const ends = Promise.allSettled([kept, dropped]);
    await vi.waitFor(() => {
      expect(lists.shown('bookmarks')[0]).toContain('Five');
      expect(lists.shown('bookmarks').join()).not.toContain('Two');
    }, WAIT);
    requests.cut();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await vi.waitFor(() => expect(lists.shown('bookmarks').join()).not.toContain('Five'), WAIT);
    // An event may have had the list read again just before: the rest of it comes now.
    requests.heal();
    await isWhole('bookmarks', 4);
    expect(lists.shown('bookmarks')).toEqual(before);
    await lists.unbookmark(ids[0] ?? '');
    await isWhole('bookmarks', 3);
    await lists.bookmark(ids[0] ?? '');
    await isWhole('bookmarks', 4);
    expect(lists.shown('bookmarks')[0]).toContain('One');
    isOnce(lists.shown('bookmarks'));
  });

  test('comments of all members appear once and in order, and failed changes are undone', async () => {
    await using closer = new Closer();
    const requests = closer.own(await startTcpProxy(() => app.app.http?.port ?? 0));
    const url = `http://127.0.0.1:${String(requests.port)}`;
    const { lists, variables, post, say, isWhole, showsAtLeast } = await openScene(closer, open, url);
    const id = await post('One');
    const [, , third = ''] = await inOrder(['first', 'second', 'third', 'fourth', 'fifth'], (text) =>
      say(id, text),
    );
    variables.comments = { actionId: id, first: PAGE };
    await lists.open('slice', variables.slice);
    await lists.open('comments', variables.comments);
    await showsAtLeast('comments', 2 * PAGE);
    // urql reads a list again page by page.
    const loaded = ['fifth', 'fourth', 'third', 'second'];
    await vi.waitFor(() => expect(lists.shown('comments')).toEqual(loaded), WAIT);
    await Promise.all([lists.comment(id, 'mine'), say(id, 'of somebody else')]);
    await app.idle();
    await vi.waitFor(() => expect(lists.shown('comments')).toContain('of somebody else'), WAIT);
    await isWhole('comments', 7);
    const before = lists.shown('comments');
    // A connection that was cut could fail the request before it is shown.
    requests.freeze();
    const ends = Promise.allSettled([lists.comment(id, 'lost'), lists.removeComment(third)]);
    await vi.waitFor(() => {
      expect(lists.shown('comments')[0]).toBe('lost');
      expect(lists.shown('comments')).not.toContain('third');
    }, WAIT);
    requests.cut();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await vi.waitFor(() => expect(lists.shown('comments')).not.toContain('lost'), WAIT);
    // An event may have had the list read again just before: the rest of it comes now.
    requests.heal();
    await vi.waitFor(() => expect(lists.shown('comments')).toEqual(before), WAIT);
    await lists.removeComment(third);
    await isWhole('comments', 6);
  });

  test('a slice and a thread of what is in no feed of the reader are live, too', async () => {
    await using closer = new Closer();
    const { lists, variables, say } = await openScene(closer, open);
    const refId = uniqueName('site');
    const refs = [{ id: refId, type: 'site', label: 'Site' }];
    await lists.open('slice', { ...variables.slice, refId });
    const id = await publish(app, { scope: 'PUBLIC', refs });
    await vi.waitFor(() => expect(lists.shown('slice')).toHaveLength(1), WAIT);
    await lists.open('comments', { actionId: id, first: PAGE });
    await say(id, 'So');
    await vi.waitFor(() => expect(lists.shown('comments')).toEqual(['So']), WAIT);
  });

  test("a list of the reader is a feed of its own, and its groups are that list's", async () => {
    await using closer = new Closer();
    const { reader, post, lists, variables } = await openScene(closer, open);
    const other = uniqueName('other');
    await upsert(app, { pairs: [{ followerId: reader, refId: other }] });
    const { createList } = await ask<{ createList: { id: string } }>(
      ...[app, 'mutation { createList(name: "Close") { id } }', {}, { sub: reader }],
    );
    const listId = createList.id;
    const add = 'mutation ($id: ID!, $refIds: [String!]!) { addToList(id: $id, refIds: $refIds) { id } }';
    await ask(app, add, { id: listId, refIds: [other] }, { sub: reader });
    await post('Elsewhere');
    const { shown: feed } = await lists.openFeed({ listId });
    await lists.open('groups', { ...variables.groups, listId });
    expect([feed(), lists.shown('groups')]).toEqual([[], []]);
    const write = (postTitle: string) =>
      publish(app, { actorId: other, descriptor: { posted: { postId: 'x', postTitle } } });
    const read = await write('Inside');
    await vi.waitFor(() => expect(feed()).toEqual([expect.stringContaining('Inside')]), WAIT);
    await vi.waitFor(() => expect(lists.shown('groups')).toEqual([expect.stringContaining('Inside')]), WAIT);
    // What is unread elsewhere is not where the reader left off in the list.
    const mark = 'mutation ($id: ID!) { markItemsRead(actionIds: [$id]) { memberId } }';
    await ask(app, mark, { id: read }, { sub: reader });
    for (const title of ['Next', 'Newest']) await write(title);
    await app.idle();
    const { shown: part } = await lists.openFeed({ listId, first: 1, from: 'firstUnread' });
    expect(part()).toEqual([expect.stringContaining('Next')]);
  });

  test('a feed begins where the reader left off, is loaded both ways, and what is new above comes with its page', async () => {
    await using closer = new Closer();
    const { reader, post, lists } = await openScene(closer, open);
    const ids = await inOrder(['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven'], post);
    const mark = 'mutation ($ids: [ID!]!) { markItemsRead(actionIds: $ids) { memberId } }';
    await ask(app, mark, { ids: ids.slice(0, 3) }, { sub: reader });
    const whole = await lists.openFeed({ first: 50, filter: { unreadOnly: false } });
    const feed = await lists.openFeed({ first: PAGE, from: 'firstUnread' });
    const words = () => feed.shown().map((text) => /posted (.*)/.exec(text)?.[1]);
    expect([words(), feed.hasMoreAbove()]).toEqual([['Four', 'Three'], true]);
    await feed.loadPrevious();
    expect(words()).toEqual(['Six', 'Five', 'Four', 'Three']);
    await post('Eight');
    await vi.waitFor(() => expect(whole.shown()).toHaveLength(8), WAIT);
    await feed.loadMore();
    expect(words()).toEqual(['Six', 'Five', 'Four', 'Three', 'Two', 'One']);
    while (feed.hasMoreAbove()) await feed.loadPrevious();
    expect(feed.shown()).toEqual(whole.shown());
    await post('Nine');
    await vi.waitFor(() => expect(words()[0]).toBe('Nine'), WAIT);
    await vi.waitFor(() => expect(feed.shown()).toEqual(whole.shown()), WAIT);
  });

  test('the last item that is loaded stays when it is changed: the next page begins below it', async () => {
    await using closer = new Closer();
    const { reader, post, lists } = await openScene(closer, open);
    const ids = await inOrder(['One', 'Two', 'Three'], post);
    const whole = await lists.openFeed({ first: 50 });
    const feed = await lists.openFeed({ first: PAGE, filter: { unreadOnly: false } });
    expect(feed.shown()).toHaveLength(PAGE);
    const mark = 'mutation ($id: ID!) { markItemsRead(actionIds: [$id]) { memberId } }';
    await ask(app, mark, { id: ids[1] }, { sub: reader });
    // Events come in order: when this one is there, that of the mark has been.
    await post('Four');
    await vi.waitFor(() => expect(feed.shown()[0]).toContain('Four'), WAIT);
    await feed.loadMore();
    expect(feed.shown()).toHaveLength(4);
    await vi.waitFor(() => expect(feed.shown()).toEqual(whole.shown()), WAIT);
  });

  test('groups are loaded page by page, a live event raises one, and each appears once', async () => {
    await using closer = new Closer();
    const { actor, lists, variables, post, isWhole, showsAtLeast } = await openScene(closer, open);
    const ids: string[] = [];
    for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) ids.push(await post(title));
    await lists.open('groups', variables.groups);
    await showsAtLeast('groups', 2 * PAGE);
    const comment = { actionId: ids[1], kind: 'COMMENT', actorId: actor };
    await ask(
      app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
      {
        input: comment,
      },
    );
    await app.idle();
    await vi.waitFor(() => expect(lists.shown('groups')[0]).toContain('Two'), WAIT);
    isOnce(lists.shown('groups'));
    await post('Six');
    await vi.waitFor(() => expect(lists.shown('groups')[0]).toContain('Six'), WAIT);
    await isWhole('groups', 6);
    isOnce(lists.shown('groups'));
  });
});
