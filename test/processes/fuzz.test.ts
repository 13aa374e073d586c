import {
  buildClientSchema,
  getIntrospectionQuery,
  type GraphQLSchema,
  type IntrospectionQuery,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Role } from '../../src/domain/viewer.ts';
import { Closer } from '../../src/lib/closer.ts';
import { OperationFuzz, type FuzzOperation } from '../support/fuzz-operations.ts';
import { startMeasuredServer, type MeasuredServer } from '../support/measured-server.ts';
import { rawRequest } from '../support/raw-post.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { IS_DEEP, SEED } from '../support/seed.ts';
import { openGreetedSocket, type TestSocket } from '../support/socket.ts';

// Random operations of the whole schema, by POST, GET and socket, as users, services and admins: none may be answered with
// a fault of the server. All it needs answers, so that UNAVAILABLE is one too.
// `npm run test:deep -- test/processes/fuzz.test.ts` sends 10,000 from each of two seeds.
const REQUESTS = IS_DEEP ? 10_000 : 200;
const SEEDS = IS_DEEP ? [SEED, SEED + 1] : [SEED];
const AT_ONCE = 16;
/** Requests before the first that is measured: what runs for the first time is compiled. */
const WARM_UP = 100;
/** CPU time in milliseconds for which a request may hold the event loop. */
const MAX_HOLD_MS = 50;
/** Requests between two looks at how long the loop was held. */
const WINDOW = 25;
/** Windows that are looked into: those in which the loop was held longest. */
const SUSPECTS = 10;
/** The collector of garbage falls into one try or another, never into all. */
const TRIES = 4;
const ROLES: readonly (readonly [string, readonly Role[]])[] = [
  ['ann', ['user']],
  ['bob', ['user']],
  ['importer', ['service']],
  ['root', ['admin']],
];
/**
 * Closings that a client brings about: by a message that makes no sense or is too large, by an erasure of its member, or by
 * asking nothing for long.
 */
const CLIENT_CODES = [4400, 4403, 4408, 1009];

/** Codes that are no client's fault; `none`: an error without a code. */
const SERVER_CODES = ['INTERNAL_SERVER_ERROR', 'UNAVAILABLE', 'none'];

let world: RefusalWorld;
let server: MeasuredServer;
beforeAll(async () => {
  world = await openRefusalWorld();
  server = await startMeasuredServer({ ...world.app.env, NODE_ENV: 'production', INTROSPECTION: 'on' });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** The code of the first error that is the server's, else of the first; OK without one. */
interface Outcome {
  readonly code: string;
  readonly status: number;
  readonly message: string;
}

interface ErrorLike {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

function codeOf({ extensions }: ErrorLike): string {
  return extensions?.code ?? 'none';
}

function outcome(status: number, errors: readonly ErrorLike[]): Outcome {
  const error = errors.find((one) => SERVER_CODES.includes(codeOf(one))) ?? errors[0];
  return {
    status,
    code: error === undefined ? 'OK' : codeOf(error),
    message: error?.message ?? '',
  };
}

const CLOSED = new Error('The socket was closed');

class Client {
  readonly #token: string;
  #socket: TestSocket | null = null;
  #count = 0;

  constructor(token: string) {
    this.#token = token;
  }

  async send(operation: FuzzOperation, random: SeededRandom): Promise<Outcome> {
    const way = random.next();
    if (way < 0.15) return this.#overSocket(operation);
    const url = `${server.url}/graphql`;
    const accept =
      operation.kind === 'subscription' ? 'text/event-stream' : random.pick(['application/json', '*/*']);
    const headers = { authorization: `Bearer ${this.#token}`, accept };
    const { query, variables } = operation;
    const inUrl = `${url}?query=${encodeURIComponent(query.toWellFormed())}&variables=${encodeURIComponent(JSON.stringify(variables))}`;
    const answer =
      way < 0.3 && inUrl.length < 8_000
        ? await rawRequest(inUrl, { method: 'GET', headers })
        : await rawRequest(url, { headers, body: this.#body(operation, random) });
    return outcome(answer.status, answer.errors);
  }

  #body({ query, variables }: FuzzOperation, random: SeededRandom): string {
    const text = JSON.stringify({ query, variables });
    // Now and then it is cut off.
    return random.next() < 0.02 ? text.slice(0, random.below(text.length)) : text;
  }

  async #overSocket({ query, variables }: FuzzOperation): Promise<Outcome> {
    const socket = (this.#socket ??= await openGreetedSocket(server.wsUrl, this.#token));
    const id = String((this.#count += 1));
    try {
      socket.send({ type: 'subscribe', id, payload: { query, variables } });
      for (;;) {
        // A socket that was closed while nothing was asked of it rejects nobody any more.
        const message = await Promise.race([socket.next(), socket.closed.then(() => Promise.reject(CLOSED))]);
        if (message.id !== id) continue;
        socket.send({ type: 'complete', id });
        if (message.type === 'error') return outcome(200, message.payload as ErrorLike[]);
        const { errors = [] } = (message.payload ?? {}) as { errors?: ErrorLike[] };
        return outcome(200, errors);
      }
    } catch (error) {
      this.#socket = null;
      const { code, reason } = await socket.closed;
      if (!CLIENT_CODES.includes(code)) throw error;
      return { status: 200, code: String(code), message: reason };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#socket?.[Symbol.asyncDispose]();
  }
}

/** A request that can be sent again as it was. */
interface Sent {
  readonly operation: FuzzOperation;
  readonly client: Client;
  readonly seed: number;
}

const send = ({ operation, client, seed }: Sent): Promise<Outcome> =>
  client.send(operation, seededRandom(seed));

/** For how long each of the requests holds the loop when it is sent alone, at least: the longest of these. */
async function longestAlone(requests: readonly Sent[]): Promise<{ holdMs: number; query: string }> {
  let longest = { holdMs: 0, query: '' };
  for (const request of requests) {
    let holdMs = Infinity;
    for (let tries = 0; tries < TRIES && holdMs > longest.holdMs; tries += 1) {
      await server.measure();
      await send(request);
      holdMs = Math.min(holdMs, (await server.measure()).longestMs);
    }
    if (holdMs > longest.holdMs) longest = { holdMs, query: request.operation.query };
  }
  return longest;
}

async function introspect(): Promise<GraphQLSchema> {
  const query = getIntrospectionQuery({ oneOf: true });
  const token = await world.app.token('root', ['admin']);
  const { data } = await rawRequest(`${server.url}/graphql`, {
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  return buildClientSchema(data as IntrospectionQuery);
}

test.each(SEEDS)(
  `none of ${String(REQUESTS)} random operations gets an internal error (seed %i)`,
  async (seed) => {
    const schema = await introspect();
    const { ids, cursors } = world;
    const fuzzWorld = {
      ids: ['ann', 'bob', 'actor', 'lone', 'site', 'other', 'nobody', 'x'],
      globalIds: [...Object.values(ids), 'nonsense', Buffer.from('Member:bob').toString('base64')],
      cursors: Object.values(cursors),
    };
    await using all = new Closer();
    const codes = new Map<string, number>();
    const faults: unknown[] = [];
    const logged: string[] = [];
    const windows: { readonly holdMs: number; readonly requests: readonly Sent[] }[] = [];
    const underWay = new Set<Sent>();
    let requests: Sent[] = [];
    let limit = WARM_UP;
    let sent = 0;

    /** What was under way since the last look may have held the loop. */
    async function look(): Promise<void> {
      const some = requests;
      requests = [...underWay];
      const { longestMs: holdMs, faults: lines } = await server.measure();
      windows.push({ holdMs, requests: some });
      logged.push(...lines);
    }

    async function run(lane: number): Promise<void> {
      const random = seededRandom(seed + limit + lane);
      const operations = new OperationFuzz(schema, random, fuzzWorld);
      const clients = await Promise.all(
        ROLES.map(async ([sub, roles]) => all.own(new Client(await world.app.token(sub, roles)))),
      );
      while (sent < limit) {
        sent += 1;
        const operation = operations.next();
        const request = { operation, client: random.pick(clients), seed: random.below(2 ** 31) };
        requests.push(request);
        underWay.add(request);
        const { status, code, message } = await send(request);
        underWay.delete(request);
        if (requests.length >= WINDOW + AT_ONCE) await look();
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (status >= 500 || SERVER_CODES.includes(code))
          faults.push({ ...operation, status, code, message });
      }
    }

    const lanes = () => Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => run(lane * 1_000_003)));
    await lanes();
    await look();
    windows.splice(0);
    sent = 0;
    limit = REQUESTS;
    await lanes();
    await look();
    // On a busy machine many requests wait for a turn of the loop and are done in one: which of them took long is known of
    // one that is alone.
    const longest = windows.sort((a, b) => b.holdMs - a.holdMs).slice(0, SUSPECTS);
    const alone = await longestAlone([...new Set(longest.flatMap((window) => window.requests))]);
    await look();
    console.log(
      `${String(REQUESTS)} requests from seed ${String(seed)}: one alone held the loop for ${alone.holdMs.toFixed(1)} ms of CPU at most,`,
      `${String(AT_ONCE)} at once for ${(longest[0]?.holdMs ?? 0).toFixed(1)} ms: ${alone.query.slice(0, 200)}`,
      Object.fromEntries([...codes].sort((a, b) => b[1] - a[1])),
    );
    expect(faults).toEqual([]);
    expect(logged).toEqual([]);
    expect(alone.holdMs, alone.query).toBeLessThan(MAX_HOLD_MS);
    // Were all refused, nothing behind the first check would have been tried.
    expect(codes.get('OK') ?? 0).toBeGreaterThan(REQUESTS / 10);
  },
  // So many take their time on a busy machine.
  Math.max(600_000, REQUESTS * 500),
);
