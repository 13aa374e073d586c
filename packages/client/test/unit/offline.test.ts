import { expect, test, vi } from 'vitest';
import { FeedClientError, networkError } from '../../src/errors.ts';
import type { FeedClient } from '../../src/feed-client.ts';
import { openOffline, type OfflineOptions, type OfflineStore } from '../../src/offline.ts';

/** What a browser keeps, and lets a page have until it ends. */
class Browser {
  readonly kept = new Map<string, unknown>();
  room = Infinity;
  /** Of all stores so far. */
  steps = 0;
  /** Writes that were kept. */
  written = 0;
  #leave: () => void = () => undefined;
  readonly gone = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });

  /** @param steps after so many the page is gone: nothing of what it does any more is over */
  store(steps = Infinity): OfflineStore {
    let step = 0;
    const during = async <T>(run: () => T): Promise<T> => {
      step += 1;
      this.steps += 1;
      if (step > steps) {
        this.#leave();
        await new Promise(() => undefined);
      }
      return run();
    };
    return {
      get: (key) => during(() => this.kept.get(key)),
      set: (key, value) =>
        during(() => {
          const others = [...this.kept]
            .filter(([one]) => one !== key)
            .map(([, one]) => JSON.stringify(one).length);
          if (others.reduce((sum, one) => sum + one, JSON.stringify(value).length) > this.room)
            throw new DOMException('No room', 'QuotaExceededError');
          this.kept.set(key, value);
          if (key.startsWith('fanfare write ')) this.written += 1;
        }),
      del: (key) => during(() => void this.kept.delete(key)),
      keys: () => during(() => [...this.kept.keys()]),
    };
  }

  of(start: string): string[] {
    return [...this.kept.keys()].filter((key) => key.startsWith(`fanfare ${start}`));
  }
}

/** What the server has been sent: each key once, as it does. */
class Server {
  readonly recorded: string[] = [];
  readonly #known = new Set<string>();
  error: FeedClientError | null = null;
  readonly reader = new AbortController();

  client(): FeedClient {
    const send = (what: string, key: string) => {
      if (this.error !== null) throw this.error;
      if (!this.#known.has(key)) this.recorded.push(what);
      this.#known.add(key);
      return what;
    };
    const mutations = {
      addInteraction: ({
        input,
      }: {
        readonly input: { readonly text?: string; readonly idempotencyKey: string };
      }) => Promise.resolve().then(() => send(input.text ?? 'like', input.idempotencyKey)),
      bookmark: ({ actionId }: { readonly actionId: string }) =>
        Promise.resolve().then(() => send(`bookmark ${actionId}`, `bookmark ${actionId}`)),
    };
    return { mutations, reader: this.reader.signal, fields: {} } as unknown as FeedClient;
  }
}

const comment = (text: string) => ({ input: { actionId: 'a', kind: 'COMMENT', text } }) as const;
const like = { input: { actionId: 'a', kind: 'LIKE' } } as const;
const listOf = (key: string, text = '') => ({
  key,
  fields: '{}',
  page: { edges: [{ text }], liveCursor: 'c' },
});

/** A page of a reader. */
async function open(browser: Browser, options: Partial<OfflineOptions> = {}) {
  const said: string[] = [];
  const offline = await openOffline({
    ...{ store: browser.store(), readerKey: 'ann' },
    onProblem: ({ kind }) => said.push(kind),
    onGivenUp: ({ name }, { code }) => said.push(`${name} ${code}`),
    ...options,
  });
  return Object.assign(offline, { said });
}

test('what is written without a connection waits in order, outlives the page and is sent once there is one', async () => {
  const [browser, server] = [new Browser(), new Server()];
  server.error = networkError('Away');
  const first = await open(browser);
  const { mutations } = first.client(server.client());
  for (const text of ['one', 'two']) mutations.addInteraction(comment(text)).catch(() => undefined);
  mutations.addInteraction(like).catch(() => undefined);
  mutations.bookmark({ actionId: 'b' }).catch(() => undefined);
  await vi.waitFor(() => expect(browser.of('write ')).toHaveLength(4));
  first.close();
  server.error = null;
  const second = await open(browser);
  expect(second.writes.map(({ name }) => name)).toEqual([
    ...['addInteraction', 'addInteraction', 'addInteraction', 'bookmark'],
  ]);
  second.client(server.client());
  expect(await Promise.all(second.writes.map(({ done }) => done))).toEqual([
    'one',
    'two',
    'like',
    'bookmark b',
  ]);
  expect(server.recorded).toEqual(['one', 'two', 'like', 'bookmark b']);
  await vi.waitFor(() => expect(browser.of('write ')).toEqual([]));
  expect(await second.client(server.client()).mutations.bookmark({ actionId: 'c' })).toBe('bookmark c');
  second.close();
});

test('a page that ends between any two steps loses nothing that was kept, and nothing happens twice', async () => {
  const texts = ['one', 'two', 'three'];
  /** @returns once all is over */
  const write = async (browser: Browser, server: Server, store: OfflineStore): Promise<void> => {
    const page = await open(browser, { store });
    const { mutations } = page.client(server.client());
    const sent = texts.map((text) => mutations.addInteraction(comment(text)));
    const keeping = page.keep(listOf('feed'));
    await Promise.all([...sent, keeping]);
    await vi.waitFor(() => expect(browser.of('write ')).toEqual([]), { interval: 1 });
  };
  const counted = new Browser();
  await write(counted, new Server(), counted.store());
  expect(counted.steps).toBeGreaterThan(20);
  for (let steps = 0; steps < counted.steps; steps += 1) {
    const [browser, server] = [new Browser(), new Server()];
    // What it has sent may still arrive.
    void write(browser, server, browser.store(steps));
    await browser.gone;
    const again = await open(browser);
    again.client(server.client());
    await Promise.all(again.writes.map(({ done }) => done));
    expect(server.recorded).toEqual(texts.slice(0, browser.written));
    expect(again.said.filter((kind) => kind !== 'corrupt')).toEqual([]);
    again.close();
  }
});

test('what the server refuses, and what could not be sent for 7 days, is given up with the reason, and what is behind it goes on', async () => {
  const [browser, server] = [new Browser(), new Server()];
  server.error = networkError('Away');
  const first = await open(browser);
  const { mutations } = first.client(server.client());
  for (const text of ['old', 'new']) mutations.addInteraction(comment(text)).catch(() => undefined);
  await vi.waitFor(() => expect(browser.of('write ')).toHaveLength(2));
  first.close();
  const [oldest = ''] = browser.of('write ').sort();
  const write = JSON.parse(String(browser.kept.get(oldest))) as { readonly at: number };
  browser.kept.set(oldest, JSON.stringify({ ...write, at: write.at - 8 * 24 * 3_600_000 }));
  server.error = null;
  const second = await open(browser);
  second.client(server.client());
  const [old, fresh] = await Promise.allSettled(second.writes.map(({ done }) => done));
  expect([old?.status, fresh?.status]).toEqual(['rejected', 'fulfilled']);
  expect(second.said).toEqual(['addInteraction EXPIRED']);
  server.error = new FeedClientError('NOT_FOUND', 'It is gone');
  await expect(
    second.client(server.client()).mutations.addInteraction(comment('late')),
  ).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: 'It is gone' },
  });
  expect(second.said).toEqual(['addInteraction EXPIRED', 'addInteraction NOT_FOUND']);
  await vi.waitFor(() => expect(browser.of('write ')).toEqual([]));
  second.close();
});

test('signing out clears all, be it by a call, by closing the client or by another reader; nothing that waits is sent', async () => {
  for (const how of ['clear', 'closed', 'another'] as const) {
    const [browser, server] = [new Browser(), new Server()];
    server.error = networkError('Away');
    const offline = await open(browser);
    const { mutations } = offline.client(server.client());
    const waiting = mutations.addInteraction(comment('one'));
    waiting.catch(() => undefined);
    await offline.keep(listOf('feed'));
    await vi.waitFor(() => expect(browser.of('write ')).toHaveLength(1));
    browser.kept.set('of the host', 1);
    server.error = null;
    if (how === 'clear') await offline.clear();
    else if (how === 'closed') server.reader.abort();
    else {
      offline.close();
      const other = await open(browser, { readerKey: 'bob' });
      expect([other.lists, other.writes]).toEqual([[], []]);
      other.close();
    }
    await vi.waitFor(() =>
      expect([...browser.kept.keys()].filter((key) => key !== 'fanfare who')).toEqual(['of the host']),
    );
    await expect(waiting).rejects.toMatchObject({ code: 'CLOSED' });
    expect(server.recorded).toEqual([]);
    await offline.keep(listOf('feed'));
    expect([browser.of('list '), offline.lists, offline.writes]).toEqual([[], [], []]);
  }
});

test('lists are kept up to 5 MB: the ones that were kept longest ago go first', async () => {
  const browser = new Browser();
  const clock = vi.spyOn(Date, 'now');
  const offline = await open(browser);
  for (const [at, key] of ['a', 'b', 'c', 'd'].entries()) {
    clock.mockReturnValue(1_000 + at);
    await offline.keep(listOf(key, 'x'.repeat(1_600_000)));
  }
  clock.mockReturnValue(2_000);
  await offline.keep(listOf('b', 'again'));
  await offline.keep(listOf('huge', 'x'.repeat(5_000_001)));
  clock.mockRestore();
  expect(offline.said).toEqual(['full']);
  offline.close();
  const again = await open(browser);
  expect(again.lists.map(({ key }) => key)).toEqual(['b', 'c', 'd']);
  expect(again.lists[0]).toEqual(listOf('b', 'again'));
  again.close();
});

test('without room lists make room for what was written; without any, it is said and still sent', async () => {
  const [browser, server] = [new Browser(), new Server()];
  const offline = await open(browser);
  for (const key of ['a', 'b']) await offline.keep(listOf(key, 'x'.repeat(1_000)));
  browser.room = 2_400;
  server.error = networkError('Away');
  const { mutations } = offline.client(server.client());
  const sent = ['one', 'two'].map((text) => mutations.addInteraction(comment(text)));
  await vi.waitFor(() => expect(browser.of('write ')).toHaveLength(2));
  expect(browser.of('list ')).toEqual(['fanfare list b']);
  await offline.keep(listOf('c', 'x'.repeat(3_000)));
  expect([browser.of('list '), offline.said]).toEqual([[], ['full']]);
  browser.room = 0;
  sent.push(mutations.addInteraction(comment('three')));
  await vi.waitFor(() => expect(offline.said).toEqual(['full', 'full']));
  browser.room = Infinity;
  server.error = null;
  expect(await Promise.all(sent)).toEqual(['one', 'two', 'three']);
  expect(server.recorded).toEqual(['one', 'two', 'three']);
  offline.close();
});

test('what makes no sense is thrown away and said; a store that fails is done without', async () => {
  const [browser, server] = [new Browser(), new Server()];
  const first = await open(browser);
  await first.keep(listOf('good'));
  await first.keep(listOf('bad'));
  first.close();
  browser.kept.set('fanfare list bad', '{"key":"bad","page":{');
  browser.kept.set('fanfare list stray', JSON.stringify(listOf('stray')));
  for (const [at, write] of [
    '{',
    '[]',
    'null',
    '{"id":"3","name":"deleteAction","variables":{},"at":1}',
  ].entries())
    browser.kept.set(`fanfare write ${String(at)}`, write);
  const second = await open(browser);
  expect([second.lists.map(({ key }) => key), second.writes]).toEqual([['good'], []]);
  expect(second.said).toEqual(Array(5).fill('corrupt'));
  expect([...browser.of('list '), ...browser.of('write ')]).toEqual(['fanfare list good']);
  second.close();
  const fail = () => Promise.reject(new Error('It is broken'));
  const broken = await open(browser, { store: { get: fail, set: fail, del: fail, keys: fail } });
  expect(broken.said).toEqual(['unavailable']);
  expect(await broken.client(server.client()).mutations.addInteraction(comment('one'))).toBe('one');
  broken.close();
});
