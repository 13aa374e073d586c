import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bodyOf, HOSTILE_REQUESTS, HOSTILE_ROLES, type HostileRequest } from '../support/hostile-requests.ts';
import { startMeasuredServer, type MeasuredServer } from '../support/measured-server.ts';
import { rawRequest } from '../support/raw-post.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';
import { openGreetedSocket } from '../support/socket.ts';

/** CPU time in milliseconds for which the event loop may be held by any request, and for each MiB of it. */
const HOLD_MS = 50;
const HOLD_MS_PER_MIB = 20;
/** The collector of garbage may fall into a run, but not into all. */
const RUNS = 3;

let world: RefusalWorld;
let server: MeasuredServer;
const tokens = new Map<HostileRequest['as'], string>();
const longest: { readonly ms: number; readonly bytes: number; readonly name: string }[] = [];

beforeAll(async () => {
  world = await openRefusalWorld();
  server = await startMeasuredServer({ ...world.app.env, NODE_ENV: 'production', INTROSPECTION: 'on' });
  for (const as of ['user', 'service'] as const)
    tokens.set(as, await world.app.token(as === 'user' ? 'ann' : 'importer', HOSTILE_ROLES[as]));
  // What runs for the first time is compiled, which is not the request's fault.
  for (let n = 0; n < 20; n += 1)
    await post({ name: '', as: 'user', query: '{ viewer { memberId } }', says: null });
  await server.measure();
});
afterAll(async () => {
  longest.sort((a, b) => b.ms - a.ms);
  console.log(
    ['CPU time for which the event loop was held:']
      .concat(
        longest
          .slice(0, 12)
          .map(({ ms, bytes, name }) => `${ms.toFixed(1)} ms  ${String(bytes)} bytes  ${name}`),
      )
      .join('\n  '),
  );
  await server[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

function post(request: HostileRequest) {
  const authorization = `Bearer ${tokens.get(request.as) ?? ''}`;
  return rawRequest(`${server.url}/graphql`, { headers: { authorization }, body: bodyOf(request) });
}

/** What a socket answers: the errors of the operation, or how it was closed. */
async function subscribe(request: HostileRequest): Promise<string> {
  await using socket = await openGreetedSocket(server.wsUrl, tokens.get(request.as) ?? '');
  socket.send(`{"type":"subscribe","id":"1","payload":${bodyOf(request)}}`);
  const answer = await Promise.race([socket.next().catch(() => socket.closed), socket.closed]);
  return JSON.stringify(answer);
}

/** Sends it until the loop was not held for too long; a request that does hold it does so every time. */
async function measured(
  name: string,
  { bytes, holdMs = HOLD_MS }: { readonly bytes: number; readonly holdMs?: number | undefined },
  send: () => Promise<unknown>,
): Promise<void> {
  const budget = holdMs + (bytes / 2 ** 20) * HOLD_MS_PER_MIB;
  let least = Infinity;
  for (let run = 0; run < RUNS && least > budget; run += 1) {
    await server.measure();
    await send();
    const { longestMs, faults } = await server.measure();
    expect(faults).toEqual([]);
    least = Math.min(least, longestMs);
  }
  longest.push({ ms: least, bytes, name });
  expect(least).toBeLessThan(budget);
}

const sizeOf = (request: HostileRequest) => ({ bytes: bodyOf(request).length, holdMs: request.holdMs });

const named = HOSTILE_REQUESTS.map((request) => ({
  ...request,
  title: `${request.name}, by a ${request.as}`,
}));

describe('over HTTP', () => {
  test.each(named)('$title: is answered, and does not hold the event loop', async (request) => {
    await measured(`POST: ${request.title}`, sizeOf(request), async () => {
      const { status, errors, data } = await post(request);
      expect(status).toBeLessThan(500);
      const messages = errors.map(({ message }) => message).join('\n');
      const codes = errors.map(({ extensions }) => extensions?.code);
      if (request.says === null) expect([messages, data === null]).toEqual(['', false]);
      else {
        const answer = messages === '' ? JSON.stringify(data) : messages;
        expect(answer).toMatch(request.says);
        for (const code of codes) expect(code).toMatch(/^BAD_(?:USER_INPUT|CURSOR)$/);
      }
    });
  });
});

describe('over a socket', () => {
  test.each(named)('$title: is answered, and does not hold the event loop', async (request) => {
    await measured(`socket: ${request.title}`, sizeOf(request), async () => {
      const answer = await subscribe(request);
      expect(answer).not.toMatch(/INTERNAL|UNAVAILABLE|"code":(?:1011|4500)/);
      if (request.says !== null)
        expect(answer).toMatch(/BAD_USER_INPUT|BAD_CURSOR|"code":(?:1009|4400|1006)/);
    });
  });
});

test('20 bodies of 9.9 MB at once are taken, or find no room', async () => {
  const request: HostileRequest = {
    name: '',
    as: 'service',
    query: 'mutation ($i: [PublishActionInput!]!) { publishActions(inputs: $i) { error { code } } }',
    variables: JSON.stringify({ i: 'x'.repeat(9_900_000) }),
    says: null,
  };
  const before = (await server.measure()).rssBytes;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post(request).catch(() => ({ status: 0 }))),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  // Some were taken and refused for what they say, others found no room.
  expect([...statuses].every((status) => [0, 200, 400, 503].includes(status))).toBe(true);
  const { rssBytes, faults } = await server.measure();
  expect(faults).toEqual([]);
  console.log(`20 bodies of 9.9 MB at once: ${String(Math.round((rssBytes - before) / 2 ** 20))} MiB more`);
});
