import { FeedClientError, type WatchOptions } from '@fanfare/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { FanfareItem } from '../../src/item.ts';
import { Connection, type Subscriber, type WatchingClient } from '../../src/store/connection.ts';
import { sharedSource } from '../../src/store/tabs.ts';

/** Locks as browsers have them, which this Node has not: who asks waits until who holds it lets it go. */
function useLocks(): void {
  const tails = new Map<string, Promise<unknown>>();
  const request = async (
    name: string,
    { signal }: { readonly signal: AbortSignal },
    held: () => Promise<void> | undefined,
  ): Promise<void> => {
    const turn = (tails.get(name) ?? Promise.resolve()).then(() => (signal.aborted ? undefined : held()));
    tails.set(name, turn);
    await turn;
  };
  vi.stubGlobal('navigator', { locks: { request } });
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
}

const OTHERS = {
  watchSlice: () => Promise.reject(new Error('Nobody watches a slice')),
  watchAction: () => Promise.reject(new Error('Nobody watches a thread')),
};

test('a retry reconnects all tabs, whichever of them requests it', async () => {
  useLocks();
  const watches: WatchOptions<FanfareItem>[] = [];
  const client: WatchingClient = {
    ...OTHERS,
    watchNotifications: () => Promise.resolve(),
    watch: (options) => {
      watches.push(options);
      options.onState?.('connecting');
      return new Promise((resolve) => {
        options.signal?.addEventListener('abort', () => {
          resolve();
        });
      });
    },
  };
  const open = () => watches.filter(({ signal }) => signal?.aborted !== true);
  const tabs = ['first', 'second'].map(() => {
    const connection = new Connection(sharedSource(client, () => Promise.resolve('one reader')));
    const list: Subscriber = {
      ...{ what: 'watch', of: {}, cursor: 'c1' },
      onEvent: () => undefined,
      onResync: () => Promise.resolve(),
    };
    onTestFinished(connection.open(list));
    return connection;
  });
  const states = () => tabs.map((tab) => tab.getSnapshot().state);
  for (const tab of [...tabs].reverse()) {
    await expect.poll(states).toEqual(['connecting', 'connecting']);
    await expect.poll(open).toHaveLength(1);
    open()[0]?.onState?.('live');
    await expect.poll(states).toEqual(['live', 'live']);
    await open()[0]?.onEvent({
      __typename: 'UnreadCountChanged',
      cursor: 'c2',
      unread: { count: 0, isExact: true },
    });
    open()[0]?.onState?.('waiting', new Error('The connection was lost'));
    await expect.poll(states).toEqual(['waiting', 'waiting']);
    const before = watches.length;
    tab.retryNow();
    // From where it was lost, and by one watch for both.
    await expect.poll(() => watches.slice(before).map(({ after }) => after)).toEqual(['c2']);
    expect(open()).toHaveLength(1);
  }
});

test('a list that is refused ends alone, and the others of all tabs stay live', async () => {
  useLocks();
  let feed: WatchOptions<FanfareItem> | undefined;
  const client: WatchingClient = {
    ...OTHERS,
    watchNotifications: () => Promise.reject(new FeedClientError('FORBIDDEN', 'Not for you')),
    watch: (options) => {
      feed = options;
      options.onState?.('live');
      return new Promise((resolve) => {
        options.signal?.addEventListener('abort', () => {
          resolve();
        });
      });
    },
  };
  const refused: string[] = [];
  const onEvent = vi.fn();
  const connection = new Connection(
    sharedSource(client, () => Promise.resolve('a reader')),
    ({ message }) => refused.push(message),
  );
  const list = { of: {}, cursor: 'c1', onEvent, onResync: () => Promise.resolve() };
  onTestFinished(connection.open({ ...list, what: 'watch' }));
  onTestFinished(connection.open({ ...list, what: 'watchNotifications' }));
  await expect.poll(() => refused).toEqual(['Not for you']);
  expect(feed?.signal?.aborted).toBe(false);
  const unread = { count: 0, isExact: true };
  await feed?.onEvent({ __typename: 'UnreadCountChanged', cursor: 'c2', unread });
  await expect.poll(() => onEvent.mock.calls).toHaveLength(1);
});
