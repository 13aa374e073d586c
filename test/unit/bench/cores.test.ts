import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { graphqlRequest } from '../../../bench/harness/http-lanes.ts';
import { pipeline } from '../../../bench/harness/pipelines.ts';
import { descendantsOf } from '../../../bench/harness/process-usage.ts';
import { mostGain } from '../../../bench/parts/cores-report.ts';

test('what a process starts in turn counts as that process', async () => {
  const program = fileURLToPath(new URL('forks-itself.mjs', import.meta.url));
  const child = fork(program, ['parent'], { execArgv: [] });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });
  const [grandchild] = (await once(child, 'message')) as [number];
  const kindOf = (kinds: ReadonlyMap<number, string>) =>
    descendantsOf(kinds).find(({ pid }) => pid === grandchild)?.kind;
  expect(kindOf(new Map([[child.pid ?? 0, 'worker']]))).toBe('worker');
  expect(kindOf(new Map([[process.pid, 'benchmark']]))).toBe('other');
});

test('more processes gain at most the cores that one leaves idle', () => {
  expect(mostGain(1, 2)).toBe(2);
  expect(mostGain(1.6, 2)).toBe(1.25);
  expect(mostGain(2, 2)).toBe(1);
  expect(mostGain(1.6, 8)).toBe(5);
});

async function listen(answer: (nth: number) => { readonly status: number; readonly body: string }) {
  let asked = 0;
  const server = createServer((request, response) => {
    const { status, body } = answer(asked++);
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const request = graphqlRequest(`http://127.0.0.1:${String(port)}`, null, '{ __typename }');
  return { request, asked: () => asked };
}

test('the client that counts bytes sends each request once, and hears every answer', async () => {
  const { request, asked } = await listen(() => ({ status: 200, body: 'x'.repeat(40_000) }));
  const took = await pipeline(request, { count: 203, connections: 3, depth: 8 });
  expect(took).toBeGreaterThan(0);
  // One more tells how long an answer is.
  expect(asked()).toBe(204);
});

test.for([
  ['refused', { status: 503, body: 'xxxx' }],
  ['shorter', { status: 200, body: 'xx' }],
] as const)('the client that counts bytes fails when an answer is %s', async ([, other]) => {
  const { request } = await listen((nth) => (nth === 50 ? other : { status: 200, body: 'xxxx' }));
  await expect(pipeline(request, { count: 100, connections: 1, depth: 4 })).rejects.toThrow('Refused');
});
