import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSchema } from '../../src/app/schema.ts';
import { CostlyDocuments } from '../support/costly-documents.ts';
import { openLargestWorld, type LargestWorld } from '../support/largest-world.ts';
import { startMeasuredServer, type MeasuredServer } from '../support/measured-server.ts';
import { repeats, SEED } from '../support/seed.ts';
import { seededRandom } from '../support/seeded-random.ts';

// The largest data that input allows, and random documents of at most 8 KiB that ask for as much of them as they can.
// `npm run test:deep -- test/processes/costly-documents.test.ts` sends many more.
const DOCUMENTS = repeats(15);
const MAX_BYTES = 10_000_000;
/** CPU time in milliseconds for which a request may hold the event loop. */
const MAX_HOLD_MS = 100;
/** Documents looked at again: those that held the loop longest. */
const SUSPECTS = 2;
/** The collector of garbage falls into one try or another, never into all. */
const TRIES = 3;

let world: LargestWorld;
let server: MeasuredServer;
beforeAll(async () => {
  world = await openLargestWorld('reader');
  // How long a read takes depends on the machine; what it holds and answers does not.
  server = await startMeasuredServer({ ...world.app.env, NODE_ENV: 'production', READ_TIMEOUT: '10m' });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const times = (count: number, field: string): string =>
  Array.from({ length: count }, (_, n) => `a${String(n)}: ${field}`).join(' ');

/** Documents that once took seconds and hundreds of megabytes, as large as they are accepted today. */
const known = (refId: string): string[] => [
  `{ slice(refId: ${refId}, first: 30) { edges { node { descriptor { ... on CustomDescriptor { ${times(80, 'data')} } } } } } }`,
  `{ ${times(4, `slice(refId: ${refId}, first: 100) { edges { node { refs { id label type followerCount isFollowed } } } }`)} }`,
  `{ ${times(8, `slice(refId: ${refId}, first: 100) { edges { node { id } } }`)} }`,
];

interface Outcome {
  readonly query: string;
  readonly bytes: number;
  readonly isAccepted: boolean;
  readonly holdMs: number;
  readonly rssBytes: number;
}

async function ask(query: string): Promise<Outcome> {
  const authorization = `Bearer ${await world.app.token('reader', ['admin'])}`;
  await server.measure();
  const { status, bytes, start } = await new Promise<{ status: number; bytes: number; start: string }>(
    (resolve, reject) => {
      const headers = { 'content-type': 'application/json', authorization };
      const req = request(`${server.url}/graphql`, { method: 'POST', headers }, (response) => {
        let length = 0;
        let text = '';
        response.on('data', (chunk: Buffer) => {
          if (text === '') text = chunk.toString('latin1', 0, 500);
          length += chunk.length;
        });
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, bytes: length, start: text });
        });
      });
      req.on('error', reject);
      req.end(JSON.stringify({ query }));
    },
  );
  const { longestMs, rssBytes, faults } = await server.measure();
  expect({ faults, status }, query).toEqual({ faults: [], status: 200 });
  expect(start, query).not.toMatch(/INTERNAL_SERVER_ERROR|Invalid string length/);
  return { query, bytes, isAccepted: start.startsWith('{"data"'), holdMs: longestMs, rssBytes };
}

test(`none of ${String(DOCUMENTS)} accepted documents gets a larger answer, or blocks the event loop longer, than allowed`, async () => {
  const documents = new CostlyDocuments(await buildSchema(), seededRandom(SEED), {
    first: '100',
    refId: JSON.stringify(world.refId),
    id: JSON.stringify(world.actions[0]),
    actionId: JSON.stringify(world.actions[0]),
    ids: JSON.stringify(world.actions.slice(0, 20)),
    memberId: '"reader"',
  });
  // What runs for the first time is compiled.
  for (let n = 0; n < 5; n += 1)
    await ask('{ feed(first: 100) { edges { node { action { refs { label } } } } } }');
  const { rssBytes: before } = await ask('{ viewer { memberId } }');
  const outcomes: Outcome[] = [];
  for (const query of known(JSON.stringify(world.refId))) outcomes.push(await ask(query));
  for (let n = 0; n < DOCUMENTS; n += 1) outcomes.push(await ask(documents.next()));
  const accepted = outcomes.filter(({ isAccepted }) => isAccepted);
  const most = (of: (outcome: Outcome) => number): number => Math.max(...outcomes.map(of));
  let longest = { holdMs: 0, query: '' };
  for (const { query } of [...outcomes].sort((a, b) => b.holdMs - a.holdMs).slice(0, SUSPECTS)) {
    let holdMs = Infinity;
    for (let n = 0; n < TRIES && holdMs > longest.holdMs; n += 1)
      holdMs = Math.min(holdMs, (await ask(query)).holdMs);
    if (holdMs > longest.holdMs) longest = { holdMs, query };
  }
  console.log(
    `${String(DOCUMENTS)} documents from seed ${String(SEED)}, ${String(accepted.length)} accepted: the largest answer had`,
    `${String(most(({ bytes }) => bytes))} bytes, one held the loop for ${longest.holdMs.toFixed(1)} ms of CPU,`,
    `memory grew by ${((most(({ rssBytes }) => rssBytes) - before) / 1e6).toFixed(0)} MB at most: ${longest.query.slice(0, 300)}`,
  );
  expect(most(({ bytes }) => bytes)).toBeLessThan(MAX_BYTES);
  expect(longest.holdMs, longest.query).toBeLessThan(MAX_HOLD_MS);
  // Were nearly all refused, nothing would have been tried.
  expect(accepted.length).toBeGreaterThan(DOCUMENTS / 5);
});
