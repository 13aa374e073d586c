import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { BROUGHT } from '../../../../src/app/brought.ts';
import { readConfig } from '../../../../src/config/read-config.ts';
import { encodeActionId } from '../../../../src/domain/node-ids.ts';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { startTestHttp } from '../../../../test/support/http.ts';
import {
  actionLine,
  answerOf,
  beginIngest,
  ingest,
  numbered,
  type IngestLine,
} from '../../../../test/support/ingest.ts';
import { ingestRoutes } from '../../src/index.ts';

let app: TestApp;
let token = '';
beforeAll(async () => {
  app = await startTestApp({ env: { INGEST: 'on' } });
  token = await app.token('importer', ['service']);
});
afterAll(() => app[Symbol.asyncDispose]());

const post = (body: string | Buffer, query = '') => ingest(app.url, body, { token, query });
const recorded = () => app.app.database.collections.actions.countDocuments();

/** The lines of an answer, as they come. */
async function* linesOf(req: ClientRequest): AsyncGenerator<IngestLine> {
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = `${text}${chunk}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as IngestLine;
  }
}

describe('POST /ingest', () => {
  it('answers each line in order, with its id or what is wrong with it, and the same when it is sent again', async () => {
    const lines = [
      actionLine('one'),
      '',
      'not json',
      actionLine(null),
      actionLine('two', { scope: 'RESTRICTED' }),
      actionLine('three', { descriptor: { custom: { verb: 'visited' } } }),
      actionLine('four', { conducted: '2999-01-01T00:00:00Z' }),
      JSON.stringify({ __proto__: null, idempotencyKey: 'five', unheardOf: 1 }),
      actionLine('six', { mentions: ['ann'] }),
    ];
    const first = await post(lines.join('\n'));
    expect(first).toMatchObject({ status: 200, type: 'application/x-ndjson; charset=utf-8' });
    const bad = (line: number, error: RegExp) => ({
      line,
      error: expect.stringMatching(error) as unknown,
      code: 'BAD_USER_INPUT',
    });
    expect(first.lines).toEqual([
      { line: 1, id: expect.any(String) as unknown },
      bad(3, /^The line is not JSON$/),
      bad(4, /^idempotencyKey: /),
      bad(5, /recipients: /),
      bad(6, /descriptor\.custom\.objectId|objectId/),
      bad(7, /conducted/),
      bad(8, /descriptor/),
      { line: 9, id: expect.any(String) as unknown },
    ]);
    const [action] = await app.app.database.collections.actions
      .find({ actorId: 'bob', 'descriptor.objectId': 'one' })
      .toArray();
    expect(first.lines[0]?.id).toBe(encodeActionId(action?._id.toString() ?? ''));
    const count = await recorded();
    expect(await post(lines.join('\n'))).toEqual(first);
    expect(await recorded()).toBe(count);
  });

  it('reads gzip, many batches, and takes the key from the line with keys=content', async () => {
    const keys = numbered(1_203, 'gzip');
    const { lines } = await post(gzipSync(keys.map((key) => actionLine(key)).join('\n')));
    expect(lines.map(({ line, error }) => [line, error])).toEqual(keys.map((_, n) => [n + 1, undefined]));
    expect(new Set(lines.map(({ id }) => id)).size).toBe(keys.length);
    const same = [actionLine(null), actionLine(null, { scope: 'EVERYONE' }), actionLine(null)].join('\n');
    const content = await post(same, '?keys=content');
    expect(content.lines[0]?.id).toBe(content.lines[2]?.id);
    expect(content.lines[0]?.id).not.toBe(content.lines[1]?.id);
    expect(await post(same, '?keys=content')).toEqual(content);
  });

  it('answers a line before the next one is sent, and delivers it', async () => {
    const req = beginIngest(app.url, { token });
    const answers = linesOf(req);
    for (const [n, key] of numbered(3, 'step').entries()) {
      req.write(`${actionLine(key, { mentions: ['reader'] })}\n`);
      expect((await answers.next()).value).toEqual({ line: n + 1, id: expect.any(String) as unknown });
    }
    req.end();
    expect((await answers.next()).done).toBe(true);
    await app.idle();
    const { data } = await app.query<{ feed: { edges: readonly unknown[] } }>(
      '{ feed(first: 9) { edges { node { id } } } }',
    );
    expect(data?.feed.edges).toHaveLength(3);
  });

  it('is for programs of the host, by POST, and says what is wrong with a request before it reads the body', async () => {
    const ask = async (options: Partial<Parameters<typeof ingest>[2]>) => {
      const { status, lines } = await ingest(app.url, actionLine('never'), { token, ...options });
      return [status, lines[0]?.code];
    };
    expect(await ask({ token: null })).toEqual([401, 'UNAUTHENTICATED']);
    expect(await ask({ token: 'x.y.z' })).toEqual([401, 'UNAUTHENTICATED']);
    expect(await ask({ token: await app.token('ann') })).toEqual([403, 'FORBIDDEN']);
    expect(await ask({ token: await app.token('ann', ['admin', 'moderator']) })).toEqual([403, 'FORBIDDEN']);
    expect(await ask({ method: 'PUT' })).toEqual([405, undefined]);
    expect(await ask({ query: '?keys=place' })).toEqual([400, 'BAD_USER_INPUT']);
    expect(await ask({ query: '?key=content' })).toEqual([400, 'BAD_USER_INPUT']);
    expect(await ask({ headers: { 'content-encoding': 'br' } })).toEqual([415, 'BAD_USER_INPUT']);
    expect(await ask({ headers: { 'fanfare-reader': 'bm9ib2R5' } })).toEqual([409, 'CONFLICT']);
    const damaged = gzipSync(
      numbered(2_000)
        .map((key) => actionLine(key))
        .join('\n'),
    ).subarray(0, 30);
    expect(await post(damaged)).toMatchObject({ status: 400, lines: [{ code: 'BAD_USER_INPUT' }] });
    expect(
      await app.app.database.collections.actions.countDocuments({ 'descriptor.objectId': 'never' }),
    ).toBe(0);
  });

  it('is not there unless it is switched on', async () => {
    await using off = await startTestApp({ worker: false });
    expect(await ingest(off.url, '', { token })).toMatchObject({ status: 404 });
  });

  it('ends with a reason when the token expires or the session is ended, and takes what is sent again', async () => {
    const { signTestToken } = await import('../../../../test/support/tokens.ts');
    const exp = Math.floor(Date.now() / 1_000) + 2;
    const short = await signTestToken({ sub: 'importer', roles: ['service'], exp });
    const req = beginIngest(app.url, { token: short });
    const answers = linesOf(req);
    req.on('error', () => undefined).write(`${actionLine('before')}\n{"idempotencyKey":"begun`);
    expect((await answers.next()).value).toMatchObject({ line: 1, id: expect.any(String) as unknown });
    expect((await answers.next()).value).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await answers.next()).done).toBe(true);
  });

  it('asks the hooks of the host, as publishActions does', async () => {
    await using hooked = await startTestApp({ worker: false, env: { INGEST: 'on' } });
    const asked: string[] = [];
    Object.assign(hooked.core, {
      hooks: {
        ...hooked.core.hooks,
        beforePublish: ({ descriptor }: { descriptor: { objectId: string } }) => {
          asked.push(descriptor.objectId);
          return Promise.resolve({
            verdict: descriptor.objectId === 'k1' ? 'refuse' : 'accept',
            message: 'No',
          });
        },
      },
    });
    const body = numbered(3)
      .map((key) => actionLine(key))
      .join('\n');
    const { lines } = await ingest(hooked.url, body, { token });
    expect(asked.sort()).toEqual(['k0', 'k1', 'k2']);
    expect(lines.map(({ code }) => code)).toEqual([undefined, 'FORBIDDEN', undefined]);
  });

  it('counts what the lines cost', async () => {
    await using limited = await startTestApp({
      worker: false,
      env: { INGEST: 'on', RATE_LIMIT_COST: '20/1h' },
    });
    const own = await limited.token(`importer of ${limited.database}`, ['service']);
    const codesOf = async (...keys: string[]) => {
      const body = keys.map((key) => actionLine(key)).join('\n');
      return (await ingest(limited.url, body, { token: own })).lines.map(({ code }) => code ?? 'OK');
    };
    expect(await codesOf('a', 'b')).toEqual(['OK', 'OK']);
    expect(await codesOf(...numbered(50))).toEqual(numbered(50).map(() => 'RATE_LIMITED'));
  });
});

describe('a request that takes its time', () => {
  const config = readConfig({ INGEST: 'on', JWT_SECRET: 'x'.repeat(32) }, BROUGHT);

  test('may take longer than others, as long as something arrives', async () => {
    await using server = await startTestHttp(
      app,
      { limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 1_000 } },
      ingestRoutes(config),
    );
    const req = beginIngest(server.url, { token });
    const answers = linesOf(req);
    const startedAt = performance.now();
    for (let n = 0; performance.now() - startedAt < 2_500; n++) {
      req.write(`${actionLine(`slow${String(n)}`)}\n`);
      expect((await answers.next()).value).toMatchObject({ line: n + 1, id: expect.any(String) as unknown });
    }
    req.end();
    expect((await answers.next()).done).toBe(true);
  });

  test('ends when nothing arrives any more', async () => {
    await using server = await startTestHttp(app, { limits: { sendTimeoutMs: 100 } }, ingestRoutes(config));
    const req = beginIngest(server.url, { token });
    req.on('error', () => undefined).write(`${actionLine('silent')}\n`);
    expect((await answerOf(req)).lines).toMatchObject([
      { line: 1, id: expect.any(String) as unknown },
      { code: 'BAD_USER_INPUT', error: expect.stringMatching(/^Nothing has arrived for/) as unknown },
    ]);
  });

  test('is refused while there is no room for it', async () => {
    const limits = { maxBodyBytesUnderWay: 8 * 1_024 * 1_024, maxUserBodyBytes: 1_024 };
    await using server = await startTestHttp(app, { limits }, ingestRoutes(config));
    const req = beginIngest(server.url, { token });
    const answers = linesOf(req);
    req.write(`${actionLine('first')}\n`);
    await answers.next();
    expect(await ingest(server.url, actionLine('second'), { token })).toMatchObject({
      status: 503,
      lines: [{ code: 'UNAVAILABLE' }],
    });
    req.end();
    expect((await answers.next()).done).toBe(true);
    expect(await ingest(server.url, actionLine('second'), { token })).toMatchObject({ status: 200 });
    expect(server.stats().bodyBytes).toBe(0);
  });
});
