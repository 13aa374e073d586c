import { createElement as h, type ReactElement, type ReactNode } from 'react';
import * as renderer from 'react-test-renderer';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as native from '../../src/native.tsx';
import { createTestClient, testItem } from '../../src/testing.ts';

/** Of a renderer for nothing in particular: no page, as in an app. */
type Rendered = ReturnType<typeof renderer.create>;

/** Does something, and waits for what React does because of it. */
const act = (change: () => unknown): Promise<void> => renderer.act(() => Promise.resolve(change()));
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const at = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();

/** As react-native and NetInfo tell it. */
function phone() {
  const states = new Set<(state: string) => void>();
  const networks = new Set<(state: { isConnected: boolean | null }) => void>();
  return {
    appState: {
      currentState: 'active',
      addEventListener(_type: 'change', listener: (state: string) => void) {
        states.add(listener);
        return { remove: () => states.delete(listener) };
      },
    },
    netInfo: {
      addEventListener(listener: (state: { isConnected: boolean | null }) => void) {
        networks.add(listener);
        listener({ isConnected: null });
        return () => networks.delete(listener);
      },
    },
    goes(state: string) {
      for (const listener of states) listener(state);
    },
    network(isConnected: boolean) {
      for (const listener of networks) listener({ isConnected });
    },
    listeners: () => states.size + networks.size,
  };
}

function Item({ item }: { readonly item: native.FanfareItem }): ReactNode {
  const { counts, like } = native.useEngagement(item.action.id);
  const ago = native.useRelativeTime(item.action.conducted, 'en');
  return h('item', { like }, `${item.action.descriptor.summary} ${String(counts?.likes)} ${ago.slice(0, 3)}`);
}

function List(): ReactNode {
  const feed = native.useFeed({ first: 2, live: 'insert' });
  const { state } = native.useConnection();
  const { goToFirstUnread } = native.useReadMark(feed);
  return h('list', { state, goToFirstUnread }, ...feed.items.map((item) => h(Item, { key: item.id, item })));
}

async function show(given: ReturnType<typeof phone>, element: ReactElement = h(List)) {
  const engagement = { comments: 0, likes: 1, reshares: 0, lastInteraction: null, reactions: [] };
  const client = createTestClient({
    feed: () => [testItem('b', at(2)), testItem('a', at(1))],
    request: () => ({ viewer: { firstUnread: { cursor: 'c', isExact: true, item: { id: 'a' } } } }),
    mutations: {
      addInteraction: ({ input }) => {
        const action = {
          ...testItem('b', at(2), { action: { engagement } }).action,
          id: input.actionId,
        };
        return Promise.resolve({ action } as never);
      },
    },
  });
  const { appState, netInfo } = given;
  let rendered: Rendered | undefined;
  await act(() => {
    rendered = renderer.create(h(native.FanfareProvider, { client, appState, netInfo }, element));
  });
  onTestFinished(() => act(() => rendered?.unmount()));
  return { client, said: () => JSON.stringify(rendered?.toJSON()), tree: () => rendered?.toJSON() };
}

test('without a page, hooks show a feed that is live, and writes in it', async () => {
  expect(['document', 'window', 'location'].filter((name) => name in globalThis)).toEqual([]);
  const { client, said, tree } = await show(phone());
  expect(said()).toContain('Ada did b 0 ');
  await act(() => client.emit({ __typename: 'FeedItemAdded', item: testItem('c', at(3)) }));
  expect(said()).toContain('Ada did c 0 ');
  const { children, props } = tree() as {
    readonly children: readonly { readonly props: { like: () => Promise<void> } }[];
    readonly props: { goToFirstUnread: () => Promise<string | null> };
  };
  await act(() => children[1]?.props.like());
  expect(said()).toContain('Ada did b 1 ');
  // The list is scrolled by who has made it.
  await act(() => expect(props.goToFirstUnread()).resolves.toBe('a'));
});

test('behind another app for long, and without a network, it is not connected; then it goes on', async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const given = phone();
  const { client, said } = await show(given);
  expect([client.watching, said()]).toEqual([1, expect.stringContaining('"live"')]);
  await act(() => given.goes('background'));
  await act(() => vi.advanceTimersByTimeAsync(29_999));
  expect(client.watching).toBe(1);
  await act(() => vi.advanceTimersByTimeAsync(1));
  expect([client.watching, said()]).toEqual([0, expect.stringContaining('"idle"')]);
  await act(() => given.goes('active'));
  expect(client.watching).toBe(1);
  await act(() => given.network(false));
  expect(client.watching).toBe(0);
  await act(() => given.goes('active'));
  expect(client.watching).toBe(0);
  await act(() => given.network(true));
  expect([client.watching, said()]).toEqual([1, expect.stringContaining('"live"')]);
});

test('it listens to the phone as long as it is shown', async () => {
  const given = phone();
  const client = createTestClient({ feed: () => [] });
  let rendered: Rendered | undefined;
  await act(() => {
    rendered = renderer.create(h(native.FanfareProvider, { client, ...given }, null));
  });
  expect(given.listeners()).toBe(2);
  await act(() => rendered?.unmount());
  expect(given.listeners()).toBe(0);
});

test('where no engine knows how long ago it was, it is said when', () => {
  vi.stubGlobal('Intl', { ...Intl, RelativeTimeFormat: undefined });
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  expect(native.relativeTime(at(0), Date.parse(at(60)), 'en-GB')).toMatch(/2026|2025/);
});
