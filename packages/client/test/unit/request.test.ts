import { expect, onTestFinished, test, vi } from 'vitest';
import { OneReader } from '../../src/one-reader.ts';
import { createFeedClient } from '../../src/index.ts';
import { createRequest, type Request } from '../../src/request.ts';

/** The token function never responds. */
function neverGiven(timeoutMs: number): Request {
  const server = { url: 'http://localhost', timeoutMs, reader: new OneReader() };
  return createRequest(server, { token: () => new Promise(() => undefined) });
}

test('a query ends with its signal although the token function never responds', async () => {
  const abort = new AbortController();
  const request = neverGiven(30_000);
  const asked = request('{ feed { state } }', {}, abort.signal);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
});

test('a query ends after its timeout although the token function never responds', async () => {
  const request = neverGiven(1);
  await expect(request('{ feed { state } }')).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
});

test('a query ends with its signal or timeout without AbortSignal.any and AbortSignal.timeout too', async () => {
  for (const name of ['any', 'timeout'] as const) {
    const whole = AbortSignal[name];
    Reflect.deleteProperty(AbortSignal, name);
    onTestFinished(() => {
      Object.defineProperty(AbortSignal, name, { value: whole, configurable: true, writable: true });
    });
  }
  const abort = new AbortController();
  const request = neverGiven(30_000);
  const asked = request('{ feed { state } }', {}, abort.signal);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: 'NETWORK' });
});

test('the language of the sentences is that of the latest answer of the server, and of nothing between', async () => {
  const headers = [{ 'content-language': 'fr' }, { 'content-language': 'de', 'fanfare-reader': 'r' }, {}];
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('fetch', () =>
    Promise.resolve(new Response('{"data":{}}', { headers: headers.shift() ?? {} })),
  );
  const client = createFeedClient({ url: 'http://server/graphql', token: 'token' });
  const said: unknown[] = [client.language];
  for (let asked = 0; asked < 3; asked += 1) {
    await client.request('{ __typename }');
    said.push(client.language);
  }
  expect(said).toEqual([undefined, undefined, 'de', 'de']);
});
