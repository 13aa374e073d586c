import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { apiClient } from '../../../src/cli/api-client.ts';

/** A server that answers requests with these, one after the other. */
async function serverOf(answers: ((response: ServerResponse) => void)[]) {
  const server = createServer((_request, response) => answers.shift()?.(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  return { url: `http://127.0.0.1:${port}/graphql`, [Symbol.dispose]: () => server.close() };
}

const cutOff = (response: ServerResponse): void => {
  response.destroy();
};
const answered = (response: ServerResponse): void => {
  response.end('{"data":{"n":1}}');
};

test('reports once, before it retries, why a server is unreachable, and again at the next outage', async () => {
  using server = await serverOf([cutOff, cutOff, answered, cutOff, answered]);
  const reasons: string[] = [];
  const client = apiClient({
    ...{ url: server.url, token: 'token' },
    onRetry: (reason) => {
      reasons.push(reason);
    },
  });
  expect(await client.run('{ n }', {})).toEqual({ n: 1 });
  expect(reasons).toEqual([expect.stringContaining(`${server.url} cannot be reached: `)]);
  expect(await client.run('{ n }', {})).toEqual({ n: 1 });
  expect(reasons).toHaveLength(2);
});

test('reports nothing if the server only asks for slower requests', async () => {
  const limited = '{"errors":[{"message":"Too many","extensions":{"code":"RATE_LIMITED"}}]}';
  using server = await serverOf([(response) => response.end(limited), answered]);
  const reasons: string[] = [];
  const onRetry = (reason: string): number => reasons.push(reason);
  const client = apiClient({ url: server.url, token: 'token', onRetry });
  expect(await client.run('{ n }', {})).toEqual({ n: 1 });
  expect(reasons).toEqual([]);
});

test('does not retry a request that the server rejected', async () => {
  using server = await serverOf([
    (response) => {
      response.end('{"errors":[{"message":"No","extensions":{"code":"FORBIDDEN"}}]}');
    },
  ]);
  const reasons: string[] = [];
  const onRetry = (reason: string): number => reasons.push(reason);
  const client = apiClient({ url: server.url, token: 'token', onRetry });
  await expect(client.run('{ n }', {})).rejects.toMatchObject({ code: 'FORBIDDEN', message: 'No' });
  expect(reasons).toEqual([]);
});

test.each([
  // A port that browsers block.
  ['http://127.0.0.1:1/graphql', 'bad port'],
  ['http://user:secret@127.0.0.1:4000/graphql', 'includes credentials'],
])('does not retry if fetch itself rejects the request: %s', async (url, reason) => {
  const reasons: string[] = [];
  const client = apiClient({ url, token: 'token', onRetry: (why) => reasons.push(why) });
  await expect(client.run('{ n }', {})).rejects.toThrow(reason);
  expect(reasons).toEqual([]);
});

test('does not retry a server that does not speak TLS', async () => {
  using server = await serverOf([]);
  const reasons: string[] = [];
  const url = server.url.replace('http:', 'https:');
  const client = apiClient({ url, token: 'token', onRetry: (why) => reasons.push(why) });
  await expect(client.run('{ n }', {})).rejects.toThrow('cannot be reached');
  expect(reasons).toEqual([]);
});
