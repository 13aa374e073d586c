import type { Interaction } from '@fanfare/client';
import { expect, test, vi } from 'vitest';
import { commentsOf } from '../../src/store/comments.ts';
import { Reader } from '../../src/store/reader.ts';
import { createTestClient, testItem } from '../../src/testing.ts';

const AT = '2026-01-01T00:00:00.000Z';
const commentOf = (id: string): Interaction => ({
  ...{ id, kind: 'COMMENT', at: AT, editedAt: null, text: id, reaction: null, parentId: null },
  ...{ state: 'VISIBLE', actor: { memberId: 'ada', name: 'Ada' } },
});
const named = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `c${String(from - n)}`);

interface Asked {
  readonly first: number;
  readonly after: string | null;
}

/** An action with comments on a server, the latest first. */
async function settle(ids: string[]) {
  const server = { ids, refuses: false, hold: Promise.resolve() };
  const actionOf = (comments: number) => {
    const { action } = testItem('a', AT);
    return { ...action, engagement: { ...action.engagement, comments } };
  };
  const changed = (interaction: Interaction | null) => ({
    ...{ isReplay: false, interaction, action: actionOf(server.ids.length) },
  });
  const client = createTestClient({
    feed: () => [],
    request: async (_query, variables) => {
      const { first, after } = variables as unknown as Asked;
      const from = after === null ? 0 : server.ids.indexOf(after) + 1;
      const page = server.ids.slice(from, from + first);
      await server.hold;
      const pageInfo = {
        hasNextPage: from + first < server.ids.length,
        endCursor: page.at(-1) ?? null,
      };
      return { node: { interactions: { edges: page.map((id) => ({ node: commentOf(id) })), pageInfo } } };
    },
    mutations: {
      addInteraction: ({ input }) => {
        const id = input.text ?? '';
        server.ids = [id, ...server.ids];
        return Promise.resolve(changed(commentOf(id)));
      },
      removeInteraction: async ({ input }) => {
        await server.hold;
        if (server.refuses) throw new Error('No');
        server.ids = server.ids.filter((one) => 'id' in input && one !== input.id);
        return changed(null);
      },
    },
  });
  const reader = new Reader({ client });
  const count = (): void => {
    reader.actions.confirm(actionOf(server.ids.length));
    reader.actions.emit();
  };
  count();
  const comments = commentsOf(reader, 'action-a');
  comments.use(() => undefined);
  const shown = () => comments.getSnapshot().comments.map(({ id }) => id);
  const shows = (wanted: string[]) => vi.waitFor(() => expect(shown()).toEqual(wanted));
  await vi.waitFor(() => expect(comments.getSnapshot().status).toBe('ready'));
  return { server, comments, shown, shows, count };
}

test('a comment of somebody else comes to those that are loaded, and takes none of them away', async () => {
  const { server, comments, shown, shows, count } = await settle(named(50, 50));
  for (let page = 2; page <= 3; page += 1) await comments.loadMore();
  expect(shown()).toEqual(named(50, 50));
  server.ids = ['new', ...server.ids];
  count();
  await shows(['new', ...named(50, 50)]);
  expect(comments.getSnapshot().hasNextPage).toBe(false);
});

test('what somebody else removes goes from any page, and the next page goes on behind what is shown', async () => {
  const { server, comments, shows, count } = await settle(named(50, 50));
  await comments.loadMore();
  server.ids = server.ids.filter((id) => id !== 'c15');
  count();
  const left = named(50, 41).filter((id) => id !== 'c15');
  await shows(left);
  await comments.loadMore();
  await shows(named(50, 50).filter((id) => id !== 'c15'));
});

test('a comment that cannot be removed comes back beside what was written meanwhile', async () => {
  const { server, comments, shown, shows, count } = await settle(['b', 'a']);
  let letGo: () => void = () => undefined;
  server.hold = new Promise((resolve) => {
    letGo = resolve;
  });
  server.refuses = true;
  const removing = comments.remove('a');
  expect(shown()).toEqual(['b']);
  server.ids = ['new', ...server.ids];
  count();
  letGo();
  await removing;
  await shows(['new', 'b', 'a']);
  expect(comments.getSnapshot().error?.message).toBe('No');
});

test('what was sent while the comments were read stays, and what was removed meanwhile stays away', async () => {
  const { server, comments, shown, shows, count } = await settle(['b', 'a']);
  let letGo: () => void = () => undefined;
  server.ids = ['c', ...server.ids];
  server.hold = new Promise((resolve) => {
    letGo = resolve;
  });
  count();
  // The answer to this is of before.
  await Promise.resolve();
  await comments.send('mine');
  const removing = comments.remove('a');
  letGo();
  await removing;
  await shows(['mine', 'c', 'b']);
  expect(shown()).not.toContain('a');
});

test('comments that could not be read are asked for again by who looks at them next, and not before', async () => {
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
