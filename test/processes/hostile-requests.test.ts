import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bodyOf, HOSTILE_REQUESTS, HOSTILE_ROLES, type HostileRequest } from '../support/hostile-requests.ts';
import { startMeasuredServer, type MeasuredServer } from '../support/measured-server.ts';
import { rawRequest } from '../support/raw-post.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';
import { IS_DEEP } from '../support/seed.ts';
import { openGreetedSocket } from '../support/socket.ts';

/** CPU time in milliseconds for which the event loop may be held by any request, and for each MiB of it. */
const HOLD_MS = 50;
const HOLD_MS_PER_MIB = 20;
/** Bodies of 9.9 MB, which are 570 MiB. */
const BURST = 60;
/** What the process may have grown by, in MiB: the bodies under way several times over, as bytes, as text and as values. */
const MOST_MIB = 400;
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
  test.each(named)('$title: is answered, and does not block the event loop', async (request) => {
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
  test.each(named)('$title: is answered, and does not block the event loop', async (request) => {
    await measured(`socket: ${request.title}`, sizeOf(request), async () => {
      const answer = await subscribe(request);
      expect(answer).not.toMatch(/INTERNAL|UNAVAILABLE|"code":(?:1011|4500)/);
      if (request.says !== null)
        expect(answer).toMatch(/BAD_USER_INPUT|BAD_CURSOR|"code":(?:1009|4400|1006)/);
    });
  });
});

/** Held and read as a whole, and refused then: the operation takes no variables. Every text is below its limit. */
const LARGEST: HostileRequest = {
  ...{ name: '', as: 'service', query: '{ __typename }', says: null },
  variables: JSON.stringify({ texts: Array.from({ length: 10 }, () => 'x'.repeat(990_000)) }),
};

async function rssMiB(): Promise<number> {
  return (await server.measure()).rssBytes / 2 ** 20;
}

test('of 60 bodies of 9.9 MB at once those beyond the limit are rejected, and their memory is released', async () => {
  // On a busy machine the server may have waited long enough for a body (408), or for the rest of one it refused (0).
  const burst = (): Promise<number[]> =>
    Promise.all(
      Array.from({ length: BURST }, () =>
        post(LARGEST).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    );
  const before = await rssMiB();
  const statuses = await burst();
  const after = await rssMiB();
  console.log(
    `${String(BURST)} bodies of 9.9 MB at once: ${String(Math.round(after - before))} MiB more; ${statuses.join(' ')}`,
  );
  // Six and a half have room.
  expect(statuses).toEqual(expect.arrayContaining([200, 503]));
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(BURST / 2);
  expect(statuses.filter((status) => ![0, 200, 408, 503].includes(status))).toEqual([]);
  expect(after - before).toBeLessThan(MOST_MIB);
  for (let n = 0; n < (IS_DEEP ? 3 : 1); n += 1) await burst();
  // Held for good, they would add up.
  expect((await rssMiB()) - before).toBeLessThan(MOST_MIB);
  expect((await server.measure()).faults).toEqual([]);
  expect((await post({ ...LARGEST, variables: '{}' })).status).toBe(200);
});
