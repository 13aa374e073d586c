import { createElement, type ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { runSample } from '../../../../test/support/run-sample.ts';
import { FanfareProvider } from '../../src/index.ts';
import type { Interaction } from '@fanfare/client';
import { openOffline, type OfflineStore } from '../../src/offline.ts';
import { commentsOf } from '../../src/store/comments.ts';
import { Reader } from '../../src/store/reader.ts';
import { createTestClient } from '../../src/testing.ts';

function storeOf(kept: Map<string, unknown>): OfflineStore {
  return {
    get: (key) => Promise.resolve(kept.get(key)),
    set: (key, value) => Promise.resolve(void kept.set(key, value)),
    del: (key) => Promise.resolve(void kept.delete(key)),
    keys: () => Promise.resolve([...kept.keys()]),
  };
}

const comment: Interaction = {
  ...{ id: 'c1', kind: 'COMMENT', at: '2026-01-01T00:00:00.000Z', editedAt: null, text: 'Said before' },
  ...{ reaction: null, parentId: null, state: 'VISIBLE' },
  actor: { memberId: 'ada', name: 'Ada', imageUrl: null },
};

/** What a page of the reader `ann` has, whose server answers so. */
async function open(kept: Map<string, unknown>, request: () => Promise<unknown>) {
  const offline = await openOffline({ store: storeOf(kept), readerKey: 'ann' });
  const reader = new Reader({ client: createTestClient({ feed: () => [], request }), offline });
  return { offline, reader, thread: commentsOf(reader, 'a') };
}

test('a thread is shown as it was last, and pages of other lists too, until they are cleared', async () => {
  const kept = new Map<string, unknown>();
  const pageInfo = { hasNextPage: true, endCursor: 'end' };
  const first = await open(kept, () =>
    Promise.resolve({
      viewer: { memberId: 'ann' },
      node: { viewer: { commentsInReview: [] }, interactions: { edges: [{ node: comment }], pageInfo } },
    }),
  );
  const pages = { edges: [{ node: { id: 'b' } }], pageInfo };
  first.reader.onPages('slice x', () => pages)();
  first.reader.onPages('slice y', () => undefined)();
  await first.thread.loadMore();
  const listed = (): string[] => [...kept.keys()].filter((key) => key.startsWith('fanfare list ')).sort();
  await vi.waitFor(() => expect(listed()).toEqual(['fanfare list comments a', 'fanfare list slice x']));
  first.offline.close();

  const away = await open(kept, () => Promise.reject(new TypeError('There is no network')));
  expect(away.thread.getSnapshot()).toMatchObject({
    ...{ comments: [comment], me: 'ann', status: 'ready', error: null, hasNextPage: true },
  });
  expect(away.thread.getServerSnapshot()).toMatchObject({ comments: [], status: 'idle' });
  expect(away.reader.keptPage('slice x')).toEqual({ ...pages, liveCursor: '' });
  await away.thread.loadMore();
  expect(away.thread.getSnapshot()).toMatchObject({ comments: [comment], status: 'ready' });
  expect(away.thread.getSnapshot().error).not.toBeNull();
  await away.offline.clear();

  const { thread, reader } = await open(kept, () => Promise.reject(new TypeError('There is no network')));
  expect(thread.getSnapshot()).toMatchObject({ comments: [], status: 'idle' });
  expect(reader.keptPage('slice x')).toBeUndefined();
});

test('what the page shows works: the app is rendered, and nothing stays after signing out', async () => {
  const kept = new Map<string, unknown>();
  const rendered: string[] = [];
  const left: unknown[] = [];
  const { signOut } = (await runSample('react-more.md', {
    modules: { '@fanfare/react/offline': { openOffline }, 'idb-keyval': storeOf(kept) },
    names: {
      ...{ FanfareProvider, root: null, React: { createElement }, userId: 'ann', getToken: () => 'none' },
      App: () => 'The app',
      createRoot: () => ({ render: (node: ReactNode) => rendered.push(renderToString(node)) }),
      location: { assign: (to: string) => left.push(to) },
    },
    gives: 'signOut',
  })) as Readonly<Record<string, () => Promise<void>>>;
  expect(rendered).toEqual(['The app']);
  expect(kept.size).toBeGreaterThan(0);
  await signOut?.();
  expect([kept.size, left]).toEqual([0, ['/sign-in']]);
});
