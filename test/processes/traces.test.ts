import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { TEST_SECRET } from '../support/app.ts';
import { testDatabase, type TestDatabase } from '../support/engine.ts';
import { feedOf, publish, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { clientOf } from '../support/serving.ts';
import { startCli } from '../support/run-cli.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  /** Which process it is from. */
  service: string;
}

interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly Span[];
}

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[];
  }[];
}

/** Takes what exporters send by OTLP, as JSON. */
async function startCollector(): Promise<Collector> {
  const spans: Span[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Batch;
      for (const { resource, scopeSpans } of resourceSpans) {
        const name = resource.attributes.find(({ key }) => key === 'service.name');
        for (const scope of scopeSpans)
          for (const span of scope.spans)
            spans.push({ ...span, service: String(name?.value['stringValue']) });
      }
      res.setHeader('content-type', 'application/json').end('{}');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    spans,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

let database: TestDatabase;
let collector: Collector;
beforeAll(async () => {
  database = await testDatabase();
  collector = await startCollector();
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const READY = /GraphQL {4}(http:\S+)\/graphql/;

function start(name: string, args: readonly string[]) {
  return startCli([...args, '--telemetry'], {
    MONGODB_URI: database.uri,
    MONGODB_DB: database.name,
    REDIS_URL: inject('redisUrl'),
    JWT_SECRET: TEST_SECRET,
    PORT: '0',
    OTEL_SERVICE_NAME: name,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
}

/** The names from a span up to the root of its trace, each with its process. */
function pathOf(span: Span): string[] {
  const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [`${span.service}: ${span.name}`, ...(parent === undefined ? [] : pathOf(parent))];
}

it('a publication is one trace from the mutation to the socket, across three processes', async () => {
  await using writing = start('writing', ['serve', '--no-worker']);
  await using serving = start('serving', ['serve', '--no-worker']);
  await using working = start('working', ['worker']);
  const [[, writingUrl = ''], [, servingUrl = '']] = await Promise.all([
    writing.stdoutHas(READY),
    serving.stdoutHas(READY),
    working.stderrHas(/worker started/),
  ]);
  const [writer, reader] = [clientOf(writingUrl), clientOf(servingUrl)];
  await upsert(writer, { pairs: [{ followerId: 'jane-doe', refId: 'actor' }] });
  await using watcher = await watchFeed('WebSocket', reader, 'jane-doe');
  const published = await publish(writer);
  expect(await watcher.addedUntil(published)).toEqual([]);

  const push = await expect
    .poll(() => collector.spans.find(({ name }) => name === 'push'), { timeout: PATIENCE_MS })
    .toBeDefined()
    .then(() => collector.spans.find(({ name }) => name === 'push'));
  const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === push?.traceId);
  const paths = () => ofTrace().map(pathOf);
  const mutation = 'writing: mutation anonymous';
  await expect
    .poll(paths, { timeout: PATIENCE_MS })
    .toEqual(
      expect.arrayContaining([
        [mutation],
        ['writing: insert actions', 'writing: publishAction', mutation],
        ['working: chunk', 'working: fan-out', 'writing: publishAction', mutation],
        ['working: announce', 'working: chunk', 'working: fan-out', 'writing: publishAction', mutation],
        ['serving: push', 'writing: publishAction', mutation],
      ]),
    );
  expect(paths().some(([first]) => first?.startsWith('working: insert newsfeedItems') === true)).toBe(true);
  // What is kept of a trace elsewhere names nobody.
  expect(JSON.stringify(ofTrace())).not.toMatch(/jane-doe|importer/);

  expect((await feedOf(reader, 'jane-doe')).length).toBe(1);
  await expect
    .poll(() => collector.spans.map(pathOf), { timeout: PATIENCE_MS })
    .toContainEqual(expect.arrayContaining(['serving: feed']));
  for (const cli of [writing, serving, working]) {
    cli.signal('SIGTERM');
    expect((await cli.result).code).toBe(0);
  }
});

it('a trace that a backend began is continued, and one of a reader is not', async () => {
  await using cli = start('joined', ['serve', '--no-worker']);
  const [, url = ''] = await cli.stdoutHas(READY);
  const client = clientOf(url);
  const traceId = 'a'.repeat(32);
  const ask = async (sub: string, roles: readonly ('user' | 'service')[]) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await client.token(sub, roles)}`,
        traceparent: `00-${traceId}-${'b'.repeat(16)}-01`,
      },
      body: JSON.stringify({ query: `query By_${roles.join('')} { viewer { memberId } }` }),
    });
  await ask('backend', ['service']);
  await ask('jane-doe', ['user']);
  const found = (name: string) => collector.spans.find((span) => span.name === name);
  await expect.poll(() => found('query By_user'), { timeout: PATIENCE_MS }).toBeDefined();
  expect(found('query By_user')?.traceId).not.toBe(traceId);
  expect(found('query By_service')).toMatchObject({ traceId, parentSpanId: 'b'.repeat(16) });
});
