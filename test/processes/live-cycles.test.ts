import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect, inject, test } from 'vitest';
import type { HttpServer } from '../../src/http/server.ts';
import { RedisLiveLog } from '../../src/live/redis-live-log.ts';
import { type SessionEnds, RedisSessionEnds } from '../../src/live/session-ends.ts';
import { connectRedis } from '../../src/connections/redis.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { IS_DEEP } from '../support/seed.ts';
import { socketUrl, startTestHttp } from '../support/http.ts';
import { countTimers } from '../support/live-timers.ts';
import { openParts } from '../support/parts.ts';
import { openGreetedSocket, openSocket, type TestSocket } from '../support/socket.ts';
import { signTestToken } from '../support/tokens.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const WATCH =
  'subscription { feedEvents { __typename cursor ... on UnreadCountChanged { unread { count } } } }';
const READERS = 50;
/** As many as one socket may have. */
const PER_SOCKET = 20;
const WINDOW_MS = 2_000;
/** A share of 10,000 subscriptions. */
const SCALE = IS_DEEP ? 1 : 0.2;
const SUBSCRIPTIONS = 10_000 * SCALE;

async function tokensOf(count: number): Promise<string[]> {
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  return Promise.all(
    Array.from({ length: count }, (_, n) => signTestToken({ sub: `reader-${String(n)}`, exp })),
  );
}

/** Subscribes as often as the socket may, and waits for as many answers as are to be waited for. */
async function subscribe(socket: TestSocket, round: number, answers: number): Promise<string[]> {
  const ids = Array.from({ length: PER_SOCKET }, (_, n) => `${String(round)}-${String(n)}`);
  for (const id of ids) socket.send({ type: 'subscribe', id, payload: { query: WATCH } });
  for (let n = 0; n < answers; n += 1) expect((await socket.next()).type).toBe('next');
  return ids;
}

function complete(socket: TestSocket, ids: readonly string[]): void {
  for (const id of ids) socket.send({ type: 'complete', id });
}

/** One socket that subscribes over and over: completes what has opened, or what is still opening. */
async function reuseSocket(url: string, token: string, rounds: number): Promise<void> {
  await using socket = await openGreetedSocket(url, token);
  for (let round = 0; round < rounds; round += 1) {
    const isOpened = round % 2 === 0;
    const ids = await subscribe(socket, round, isOpened ? PER_SOCKET : 0);
    complete(socket, ids);
    // The server takes messages in order: behind a pong it has taken them all.
    socket.send({ type: 'ping' });
    while ((await socket.next()).type !== 'pong');
  }
}

/** A socket that is closed, or cut, with everything open or opening, and about to be told something. */
async function dropSocket(
  url: string,
  token: string,
  { n, touch }: { readonly n: number; readonly touch: () => Promise<void> },
): Promise<void> {
  await using socket = await openGreetedSocket(url, token);
  await subscribe(socket, n, n % 2 === 0 ? PER_SOCKET : 0);
  await touch();
  if (n % 3 === 0) socket.socket.close(1000);
  else socket.socket.terminate();
  await socket.closed;
}

/** A socket that is cut while its token, which has not been seen before, is looked at. */
async function hangUp(url: string, n: number): Promise<void> {
  const exp = Math.floor(Date.now() / 1_000) + 3_600 + n;
  await using socket = await openSocket(url);
  const authorization = `Bearer ${await signTestToken({ sub: `guest-${String(n)}`, exp })}`;
  socket.socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }), () => {
    socket.socket.terminate();
  });
  await socket.closed;
}

/** An event stream that is broken off, open or opening. */
async function dropStream(url: string, token: string, n: number): Promise<void> {
  const req = request(`${url}/graphql?query=${encodeURIComponent(WATCH)}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
    agent: false,
  });
  req.on('error', () => undefined);
  req.end();
  if (n % 4 === 0) await once(req, 'finish');
  else {
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.on('error', () => undefined);
    await once(res, 'data');
  }
  req.destroy();
}

async function inTurns(count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const turns = Array.from({ length: atOnce }, async () => {
    for (let n = next++; n < count; n = next++) await work(n);
  });
  await Promise.all(turns);
}

/** @param touch changes something that the n-th reader is notified of. */
async function runCycles(
  server: HttpServer,
  { tokens, touch }: { readonly tokens: readonly string[]; readonly touch: (n: number) => Promise<void> },
  scale: number,
): Promise<number> {
  const ws = socketUrl(server);
  const of = (n: number): string => tokens[n % tokens.length] ?? '';
  await inTurns(10, 10, (n) => reuseSocket(ws, of(n), 35 * scale));
  await inTurns(100 * scale, 8, (n) => dropSocket(ws, of(n), { n, touch: () => touch(n % tokens.length) }));
  await inTurns(100 * scale, 8, (n) => hangUp(ws, n));
  await inTurns(1_000 * scale, 16, (n) => dropStream(server.url, of(n), n));
  return 10 * 35 * scale * PER_SOCKET + 100 * scale * PER_SOCKET + 1_000 * scale;
}

test(`leaves nothing behind after ${String(SUBSCRIPTIONS)} subscriptions that ended in every way`, async () => {
  const prefix = `test:${randomUUID()}:`;
  await using redis = await connectRedis({ url: inject('redisUrl') });
  const troubles: string[] = [];
  const onTrouble = (what: string): void => void troubles.push(what);
  await using liveLog = new RedisLiveLog({ redis, prefix, windowMs: WINDOW_MS, onTrouble });
  await using sessionEnds = new RedisSessionEnds({
    ...{ redis, prefix, onTrouble },
    endedAmong: () => Promise.resolve([]),
  });
  let sessions = 0;
  const counted: SessionEnds = {
    endSessions: (userId) => sessionEnds.endSessions(userId),
    [Symbol.asyncDispose]: () => Promise.resolve(),
    onEnd(userId: string, callback: () => void): Disposable {
      const session = sessionEnds.onEnd(userId, callback);
      sessions += 1;
      return {
        [Symbol.dispose]() {
          session[Symbol.dispose]();
          sessions -= 1;
        },
      };
    },
  };
  await using parts = await openParts({ realtime: { liveLog, sessionEnds: counted } });
  const metrics = createMetrics({ withProcess: false });
  await using server = await startTestHttp(parts, { metrics });
  const readers = {
    tokens: await tokensOf(READERS),
    touch: (n: number) =>
      liveLog.append([
        { userId: `reader-${String(n)}`, event: { kind: 'list' as const, change: 'marks' as const } },
      ]),
  };
  const listeners = (): number =>
    [redis.commands, redis.subscriber]
      .flatMap((client) => client.eventNames().map((name) => client.listenerCount(name)))
      .reduce((sum, count) => sum + count, 0);
  const held = async (): Promise<object> => ({
    ...server.stats(),
    ...liveLog.usage,
    listeners: listeners(),
    gauges: (await metrics.metrics()).match(/^fanfare_live_subscribers\{.*$/gm),
    subscribed: await redis.commands.pubsub('CHANNELS', `${prefix}*`),
    sessions,
  });
  const connections = (): number =>
    process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length;
  // Whatever is made once is there after a first round.
  await runCycles(server, readers, 0.02);
  const once = {
    requests: 0,
    sockets: 0,
    subscriptions: 0,
    sessions: 0,
    ...{ watchers: 0, readers: 0, channels: 0, timers: 0 },
    subscribed: [`${prefix}live:ended`],
    gauges: [
      'fanfare_live_subscribers{transport="websocket"} 0',
      'fanfare_live_subscribers{transport="sse"} 0',
    ],
  };
  await expect.poll(held, { timeout: PATIENCE_MS }).toMatchObject(once);
  const before = await held();
  const connectionsBefore = connections();
  using timers = countTimers();
  expect(await runCycles(server, readers, SCALE)).toBe(SUBSCRIPTIONS);
  await expect.poll(held, { timeout: PATIENCE_MS }).toEqual(before);
  // The driver of the database may have opened a few more, all clients together came by more than twice as many.
  await expect.poll(connections, { timeout: PATIENCE_MS }).toBeLessThanOrEqual(connectionsBefore + 100);
  await expect.poll(() => timers.places(), { timeout: PATIENCE_MS }).toEqual([]);
  // The window keeps logs for watchers that come back; then they go too.
  const keys = async (): Promise<string[]> =>
    (await redis.commands.keys(`${prefix}*`)).map((key) => key.slice(prefix.length));
  await expect.poll(keys, { timeout: PATIENCE_MS }).toEqual(['live:epoch']);
  expect(troubles).toEqual([]);
});
