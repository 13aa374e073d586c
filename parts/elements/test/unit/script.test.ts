import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { elementsScript } from '../../src/script.ts';

const CODE = 'customElements.define("an-element", class extends HTMLElement {});\n'.repeat(50);
const server = createServer((req, res) => void (req.url === '/none' ? none : script)(req, res));
let script: ReturnType<typeof elementsScript>;
let none: ReturnType<typeof elementsScript>;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-script-'));
  await writeFile(join(folder, 'elements.js'), CODE);
  script = elementsScript(join(folder, 'elements.js'));
  none = elementsScript(join(folder, 'nothing.js'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** As it is sent: fetch would unpack it. */
function ask(
  headers: Readonly<Record<string, string>> = {},
  path = '/elements.js',
  method = 'GET',
): Promise<Answered> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path, method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

test('the script comes whole or compressed, for pages of any origin, and is not sent to who has it', async () => {
  const plain = await ask();
  expect([plain.status, plain.body.toString(), plain.headers['content-encoding']]).toEqual([
    200,
    CODE,
    undefined,
  ]);
  expect(plain.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'cache-control': 'public, max-age=3600, stale-while-revalidate=86400',
    'content-type': 'text/javascript; charset=utf-8',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'accept-encoding',
  });
  const small = await ask({ 'accept-encoding': 'br, gzip' });
  expect([small.headers['content-encoding'], gunzipSync(small.body).toString()]).toEqual(['gzip', CODE]);
  expect(small.body.length).toBeLessThan(plain.body.length);
  const { etag = '' } = plain.headers;
  expect(small.headers.etag).toBe(etag);
  for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    const again = await ask({ 'if-none-match': known });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
  }
  expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200);
});

test.each([
  ['gzip;q=0', undefined],
  ['gzip; q=0.0, br', undefined],
  ['gzip;q=0.5', 'gzip'],
  ['x-gzip', undefined],
  ['br', undefined],
])('accept-encoding %s: %s', async (accepted, encoding) => {
  expect((await ask({ 'accept-encoding': accepted })).headers['content-encoding']).toBe(encoding);
});

test('HEAD has no body, POST is refused, and a server without the file says so', async () => {
  const head = await ask({}, '/elements.js', 'HEAD');
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect((await ask({}, '/elements.js', 'POST')).status).toBe(405);
  const missing = await ask({}, '/none');
  expect([missing.status, missing.body.toString()]).toEqual([
    404,
    '{"error":"The elements are not built: npm run build"}',
  ]);
});
