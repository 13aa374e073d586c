import { createFeedClient } from '@fanfare/client';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { feedItemFields, type FanfareItem } from '../../packages/react/src/item.ts';
import { Reader } from '../../packages/react/src/store/reader.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const WAIT = { timeout: PATIENCE_MS };
const nothing = (): void => undefined;

/** A reader, and the sockets that were made for it. */
async function settle() {
  const sockets: WebSocket[] = [];
  class Counted extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols);
      sockets.push(this);
    }
  }
  const token = await app.token(uniqueName('reader'));
  const client = createFeedClient<FanfareItem>({
    url: `${app.url}/graphql`,
    token,
    fields: feedItemFields,
    webSocket: Counted,
  });
  const reader = new Reader({ client });
  const use = (): (() => void) => {
    const leaves = [reader.feed({}).use(nothing), reader.feed({ filter: { unreadOnly: true } }).use(nothing)];
    leaves.push(reader.unread.use(nothing));
    return () => {
      for (const leave of leaves) leave();
    };
  };
  const isOver = () =>
    vi.waitFor(() => {
      expect(sockets.every(({ readyState }) => readyState === WebSocket.CLOSED)).toBe(true);
      expect(app.app.http?.stats()).toMatchObject({ sockets: 0, subscriptions: 0 });
    }, WAIT);
  return { sockets, reader, use, isOver };
}

const isLive = (reader: Reader) =>
  vi.waitFor(() => expect(reader.connection.getSnapshot().state).toBe('live'), WAIT);

test.each(['at once', 'when its socket is made', 'when its socket is open', 'when it is live'])(
  'lists that are left %s leave no socket behind, and open one on return',
  async (moment) => {
    const { sockets, reader, use, isOver } = await settle();
    const leave = use();
    if (moment !== 'at once') await vi.waitFor(() => expect(sockets).toHaveLength(1), WAIT);
    const isOpen = (): void => expect(sockets[0]?.readyState).toBe(WebSocket.OPEN);
    if (moment === 'when its socket is open') await vi.waitFor(isOpen, WAIT);
    if (moment === 'when it is live') await isLive(reader);
    leave();
    await isOver();
    const leaveAgain = use();
    await isLive(reader);
    expect(sockets.filter(({ readyState }) => readyState === WebSocket.OPEN)).toHaveLength(1);
    expect(app.app.http?.stats().sockets).toBe(1);
    leaveAgain();
    await isOver();
  },
);

test('all lists share one socket after they are mounted, unmounted and mounted again before it is connected', async () => {
  const { sockets, reader, use, isOver } = await settle();
  const leaves = [use()];
  leaves.pop()?.();
  leaves.push(use());
  await isLive(reader);
  expect(sockets).toHaveLength(1);
  leaves.pop()?.();
  await isOver();
});
