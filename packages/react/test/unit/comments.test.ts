import type { Interaction } from '@fanfare/client';
import { expect, test, vi } from 'vitest';
import { commentsOf } from '../../src/store/comments.ts';
import { Reader } from '../../src/store/reader.ts';
import { createTestClient, testItem } from '../../src/testing.ts';

const AT = '2026-01-01T00:00:00.000Z';
/** The higher its number, the later. */
const timeOf = (id: string): string =>
  new Date(Date.parse(AT) + (Number(id.slice(1)) || 100) * 1_000).toISOString();
const commentOf = (id: string, change: Partial<Interaction> = {}): Interaction => ({
  ...{ id, kind: 'COMMENT', at: timeOf(id), editedAt: null, text: id, reaction: null, parentId: null },
  ...{ state: 'VISIBLE', actor: { memberId: 'ada', name: 'Ada', imageUrl: null }, ...change },
});
const named = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `c${String(from - n)}`);

interface Asked {
  readonly first: number;
  readonly after: string | null;
}

/** An action with comments on a server, the latest first. */
async function settle(ids: string[], { isListed = true } = {}) {
  const server = {
    ...{ ids, version: 0, refuses: false, hold: Promise.resolve(), asked: 0 },
    texts: new Map<string, string>(),
    recorded: new Map<string, Interaction>(),
    /** The reader's own, which wait for review. */
    held: [] as Interaction[],
  };
  const actionNow = () => {
    const { action } = testItem('a', AT);
    const engagement = { ...action.engagement, comments: server.ids.length };
    return { ...action, engagement, commentsVersion: server.version };
  };
  const changed = (interaction: Interaction | null) => ({
    ...{ isReplay: false, interaction, action: actionNow() },
  });
  const client = createTestClient({
    feed: () => [],
    request: async (_query, variables) => {
      server.asked += 1;
      const { first, after } = variables as unknown as Asked;
      const from = after === null ? 0 : server.ids.indexOf(after) + 1;
      const page = server.ids.slice(from, from + first);
      await server.hold;
      const pageInfo = {
        hasNextPage: from + first < server.ids.length,
        endCursor: page.at(-1) ?? null,
      };
      return {
        node: {
          viewer: { commentsInReview: server.held },
          interactions: {
            edges: page.map((id) => ({ node: commentOf(id, { text: server.texts.get(id) ?? id }) })),
            pageInfo,
          },
        },
      };
    },
    mutations: {
      addInteraction: ({ input }) => {
        const id = input.text ?? '';
        if (id.startsWith('held')) {
          server.held = [commentOf(id, { state: 'HIDDEN' }), ...server.held];
          return Promise.resolve(changed(server.held[0] ?? null));
        }
        const before = server.recorded.get(input.idempotencyKey ?? '');
        if (before !== undefined) return Promise.resolve(changed(before));
        server.ids = [id, ...server.ids];
        server.version += 1;
        return Promise.resolve(changed(commentOf(id)));
      },
      removeInteraction: async ({ input }) => {
        await server.hold;
        if (server.refuses) throw new Error('No');
        server.ids = server.ids.filter((one) => 'id' in input && one !== input.id);
        server.version += 1;
        return changed(null);
      },
    },
  });
  const reader = new Reader({ client });
  const hear = (): void => {
    reader.actions.confirm(actionNow());
    reader.actions.emit();
  };
  if (isListed) hear();
  /** By somebody else. */
  const change = (ids = server.ids): void => {
    server.ids = ids;
    server.version += 1;
    hear();
  };
  const comments = commentsOf(reader, 'action-a');
  comments.use(() => undefined);
  const shown = () => comments.getSnapshot().comments.map(({ id }) => id);
  const shows = (wanted: string[]) => vi.waitFor(() => expect(shown()).toEqual(wanted));
  await vi.waitFor(() => expect(comments.getSnapshot().status).toBe('ready'));
  return { client, server, comments, shown, shows, hear, change, actionNow };
}

test("another member's comment joins the loaded ones and removes none of them", async () => {
  const { comments, shown, shows, change } = await settle(named(50, 50));
  for (let page = 2; page <= 3; page += 1) await comments.loadMore();
  expect(shown()).toEqual(named(50, 50));
  change(['new', ...named(50, 50)]);
  await shows(['new', ...named(50, 50)]);
  expect(comments.getSnapshot().hasNextPage).toBe(false);
});

test('a comment that another member removes disappears from any page, and the next page continues after what is shown', async () => {
  const { comments, shows, change } = await settle(named(50, 50));
  await comments.loadMore();
  change(named(50, 50).filter((id) => id !== 'c15'));
  const left = named(50, 41).filter((id) => id !== 'c15');
  await shows(left);
  await comments.loadMore();
  await shows(named(50, 50).filter((id) => id !== 'c15'));
});

test('a comment whose removal fails comes back beside comments written meanwhile', async () => {
  const { server, comments, shown, shows, change } = await settle(['b', 'a']);
  let letGo: () => void = () => undefined;
  server.hold = new Promise((resolve) => {
    letGo = resolve;
  });
  server.refuses = true;
  const removing = comments.remove('a');
  expect(shown()).toEqual(['b']);
  change(['new', ...server.ids]);
  letGo();
  await removing;
  await shows(['new', 'b', 'a']);
  expect(comments.getSnapshot().error?.message).toBe('No');
});

test('comments sent during a read stay, and those removed meanwhile stay away', async () => {
  const { server, comments, shown, shows, change } = await settle(['b', 'a']);
  let letGo: () => void = () => undefined;
  server.hold = new Promise((resolve) => {
    letGo = resolve;
  });
  change(['c', ...server.ids]);
  // The answer to this is of before.
  await Promise.resolve();
  await comments.send('mine');
  const removing = comments.remove('a');
  letGo();
  await removing;
  await shows(['mine', 'c', 'b']);
  expect(shown()).not.toContain('a');
});

test('an edited comment is shown as edited, and a hidden one disappears while another is added', async () => {
  const { server, comments, shows, change } = await settle(['b', 'a']);
  const texts = () => comments.getSnapshot().comments.map(({ text }) => text);
  server.texts.set('a', 'edited');
  change();
  await vi.waitFor(() => expect(texts()).toEqual(['b', 'edited']));
  change(['c', 'b']);
  await shows(['c', 'b']);
});

test("the reader's own comments are not read again, and changes during a wait are read together", async () => {
  const { server, comments, shows, hear, change } = await settle(['a']);
  const before = server.asked;
  await comments.send('mine');
  hear();
  expect(server.asked).toBe(before);
  for (const id of ['c', 'd', 'e']) change([id, ...server.ids]);
  await shows(['e', 'd', 'c', 'mine', 'a']);
  expect(server.asked).toBe(before + 1);
});

test('a comment that was removed after it was recorded is not shown when it is sent again', async () => {
  const { server, comments, shown } = await settle(['a']);
  server.recorded.set('key', commentOf('gone', { state: 'REMOVED', text: null }));
  await comments.send('gone', { key: 'key' });
  expect(shown()).toEqual(['a']);
  expect(comments.getSnapshot().drafts).toEqual([]);
});

test('comments that could not be read are requested again only by the next component that shows them', async () => {
  let asked = 0;
  const reader = new Reader({
    client: createTestClient({
      feed: () => [],
      request: () => {
        asked += 1;
        if (asked === 1) throw new Error('Away');
        const edges = [{ node: commentOf('c1') }];
        return { node: { interactions: { edges, pageInfo: { hasNextPage: false, endCursor: 'c1' } } } };
      },
    }),
  });
  const { use, getSnapshot } = commentsOf(reader, 'action-a');
  const leave = use(() => undefined);
  await vi.waitFor(() => expect(getSnapshot().status).toBe('error'));
  reader.actions.emit();
  leave();
  expect(asked).toBe(1);
  use(() => undefined);
  await vi.waitFor(() => expect(getSnapshot()).toMatchObject({ status: 'ready', error: null }));
  expect(getSnapshot().comments.map(({ id }) => id)).toEqual(['c1']);
  expect(asked).toBe(2);
});

test('comments that could not be read while the connection was lost are read again when it is back', async () => {
  let isAway = false;
  const client = createTestClient({
    feed: () => [],
    request: () => {
      if (isAway) throw new Error('Away');
      const edges = [{ node: commentOf('c1') }];
      return { node: { interactions: { edges, pageInfo: { hasNextPage: true, endCursor: 'c1' } } } };
    },
  });
  const comments = commentsOf(new Reader({ client }), 'action-a');
  comments.use(() => undefined);
  await vi.waitFor(() => expect(comments.getSnapshot().status).toBe('ready'));
  client.connection('waiting');
  isAway = true;
  await comments.loadMore();
  expect(comments.getSnapshot().error?.message).toBe('Away');
  isAway = false;
  client.connection('live');
  await vi.waitFor(() => expect(comments.getSnapshot().error).toBeNull());
});

test('a comment that waits for review is shown to its writer as such, also when all is read again', async () => {
  const { server, comments, shown, shows, change } = await settle(named(2, 2));
  await comments.send('held');
  expect(shown()).toEqual(['held', 'c2', 'c1']);
  const states = () => comments.getSnapshot().comments.map(({ state }) => state);
  expect(states()).toEqual(['HIDDEN', 'VISIBLE', 'VISIBLE']);
  expect(comments.getSnapshot().drafts).toEqual([]);
  change(['c3', 'c2', 'c1']);
  await shows(['held', 'c3', 'c2', 'c1']);
  // A moderator lets it through.
  server.held = [];
  change(['held', 'c3', 'c2', 'c1']);
  await vi.waitFor(() => expect(states()).not.toContain('HIDDEN'));
  expect(shown()).toEqual(['held', 'c3', 'c2', 'c1']);
});

test('comments of an action that no list shows are read again when it changes, and when it is gone', async () => {
  const { server, client, shows, actionNow } = await settle(['c1'], { isListed: false });
  server.ids = ['c2', 'c1'];
  server.version = 7;
  await client.emit({ __typename: 'ActionChanged', action: actionNow() });
  await shows(['c2', 'c1']);
  const before = server.asked;
  // A like, which is no comment.
  await client.emit({ __typename: 'ActionChanged', action: actionNow() });
  expect(server.asked).toBe(before);
  server.ids = [];
  await client.emit({ __typename: 'ActionGone', actionId: 'action-a' });
  await shows([]);
});
