import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publisher } from '../../parts/consume/src/command.ts';
import { consume } from '../../parts/consume/src/consume.ts';
import type { Message } from '../../parts/consume/src/messages.ts';
import { Acting } from '../../src/core/stored-input.ts';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { signatureHeaders, signingKey } from '../../src/domain/signature.ts';
import { DEFAULT_LIMITS } from '../../src/http/limits/limits.ts';
import { sendQuery } from '../support/bad-requests.ts';
import { fc } from '../support/fast-check.ts';
import { publish } from '../support/feed-api.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { openRefusalWorld, type RefusalWorld } from '../support/refusal-world.ts';
import { IS_DEEP } from '../support/seed.ts';
import { anything, anyText, type Json, spoilt } from '../support/spoilt.ts';
import { newWebhookSecret } from '../support/webhook-receiver.ts';

// What comes in by other doors than /graphql. Each request has what is valid there with some of it exchanged.

const NUM_RUNS = IS_DEEP ? 5_000 : 40;
const HOLD_EVERY_MS = 1_000;
const TIMEOUT_MS = PATIENCE_MS * (IS_DEEP ? 60 : 2);
const SECRET = newWebhookSecret();

let world: RefusalWorld;
const tokens = new Map<string, string>();
const agent = new Agent({ keepAlive: true });
beforeAll(async () => {
  world = await openRefusalWorld({
    env: {
      ...{
        INGEST: 'on',
        SYNDICATION: 'on',
        PUBLIC_URL: 'https://feed.example',
        MCP: 'write',
        FEDERATION: 'on',
      },
      ...{ MAIL_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'feed@app.example' },
      ...{ MAIL_LINK: 'https://app.example/', MAIL_EVENTS_SECRET: SECRET },
    },
  });
  const descriptor = { custom: { verb: 'v', objectType: 'o', objectId: 'i' } };
  const refs = [{ id: 'site', type: 'site', label: 'Site' }];
  await publish(world.app, { actorId: 'actor', scope: 'PUBLIC', refs, descriptor });
  for (const role of ['user', 'service', 'admin'] as const)
    tokens.set(role, await world.app.token('root', [role]));
});
afterAll(async () => {
  agent.destroy();
  await world[Symbol.asyncDispose]();
});

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function send({ path, method = 'GET', headers = {}, body }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${world.app.url}${path}`, { method, headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const bearer = (role: string) => ({ authorization: `Bearer ${tokens.get(role) ?? ''}` });

/** Holds for each answer: it has a code of the API or is good, and nothing failed inside. */
async function hold<T>(given: fc.Arbitrary<T>, door: (value: T) => Promise<Answer>): Promise<Set<number>> {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(given, async (value) => {
      const { status, text } = await door(value);
      statuses.add(status);
      expect([status < 500, text.includes('"code":"INTERNAL')]).toEqual([true, false]);
      for (const [, code] of text.matchAll(/"code":"([A-Z_]+)"/g)) expect(ERROR_CODES).toContain(code);
    }),
    { numRuns: NUM_RUNS, endOnFailure: true },
  );
  expect(world.app.log.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
  const { data } = await sendQuery(world, { query: '{ viewer { memberId } }' });
  expect(data).toEqual({ viewer: { memberId: 'ann' } });
  return statuses;
}

const LINE: Json = {
  ...{ idempotencyKey: 'k', actorId: 'actor', conducted: '2026-01-01T00:00:00Z', scope: 'PUBLIC' },
  ...{ mentions: ['ann'], refs: [{ id: 'site', type: 'site', label: 'Site' }], expiresAt: null },
  descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'i', data: { a: [1] }, tags: ['x'] } },
};
const anyLine = fc.oneof(
  { weight: 4, arbitrary: spoilt(LINE).map((line) => JSON.stringify(line)) },
  { weight: 1, arbitrary: anyText },
  fc.nat(200).map((end) => JSON.stringify(LINE).slice(0, end)),
  fc.constantFrom('', '{"__proto__":{"a":1}}', `${'['.repeat(3_000)}${']'.repeat(3_000)}`, '\u{feff}{}'),
);
/** For a header: what a client can send. */
const anyHeader = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((n) => String.fromCharCode(n)),
});
const anyPart = fc.oneof(
  fc.constantFrom('%', '%00', '%ff', '..', '//', '?', '&', '=', 'a%2Fb', 'x'.repeat(3_000)),
  fc.string({ unit: 'binary', maxLength: 8 }).map(encodeURIComponent),
);

test(
  'ingest',
  async () => {
    const sent = fc.record({
      lines: fc.array(anyLine, { maxLength: 4 }),
      query: fc.constantFrom('', '?keys=content', '?keys=x', '?keys=content&keys='),
      encoding: fc.constantFrom('none', 'gzip', 'torn', 'false', 'other'),
      role: fc.constantFrom('service', 'service', 'service', 'user'),
    });
    const statuses = await hold(sent, ({ lines, query, encoding, role }) => {
      const plain = Buffer.from(lines.join('\n'));
      const packed =
        encoding === 'gzip' ? gzipSync(plain) : encoding === 'torn' ? gzipSync(plain).subarray(0, 15) : plain;
      const headers: Record<string, string> = bearer(role);
      if (encoding !== 'none') headers['content-encoding'] = encoding === 'other' ? 'br' : 'gzip';
      return send({ path: `/ingest${query}`, method: 'POST', headers, body: packed });
    });
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 403]));
  },
  TIMEOUT_MS,
);

test(
  'feeds and activities',
  async () => {
    const known = [
      '/feeds/ref/site.json',
      '/feeds/me.atom',
      '/refs/site/outbox',
      '/actions/x',
      '/feeds/',
      '/refs/',
    ];
    const asked = fc.record({
      path: fc.oneof(
        {
          weight: 3,
          arbitrary: fc.tuple(
            fc.constantFrom(...known),
            fc.constantFrom('?lang=', '?after=', '?page=', '?key=', '/', ''),
            anyPart,
          ),
        },
        fc.tuple(
          fc.constantFrom('/feeds/ref/', '/refs/', '/actions/', '/feeds/me'),
          anyPart,
          fc.constantFrom('.json', '.rss', '/outbox', ''),
        ),
      ),
      headers: fc.record(
        {
          accept: fc.oneof(fc.constant('application/activity+json'), anyHeader),
          'accept-language': anyHeader,
          'if-none-match': anyHeader,
        },
        { requiredKeys: [] },
      ),
    });
    const statuses = await hold(asked, ({ path, headers }) => send({ path: path.join(''), headers }));
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 404]));
  },
  TIMEOUT_MS,
);

test(
  'tools for machines',
  async () => {
    const call = (name: string, args: Json): Json => ({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    });
    const { action } = world.ids;
    const calls = [
      call('feed_of', { memberId: 'ann', first: 2 }),
      call('explain_item', { actionId: action, memberId: 'ann' }),
      call('explain_notification', { actionId: action, kind: 'MENTION', memberId: 'ann' }),
      call('find_member', { search: 'ann', first: 3 }),
      call('find_ref', { search: 'site', type: 'site' }),
      call('reports', { state: 'OPEN' }),
      call('resolve_report', { id: action, resolution: 'DISMISSED' }),
      ...['work', 'doctor', 'settings'].map((name) => call(name, {})),
      { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
      {
        jsonrpc: '2.0',
        id: 3,
        method: 'initialize',
        params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      },
    ] satisfies readonly Json[];
    const body = fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .constantFrom(...calls)
          .chain(spoilt)
          .map((one) => JSON.stringify(one)),
      },
      fc.array(fc.constantFrom(...calls).chain(spoilt), { maxLength: 3 }).map((many) => JSON.stringify(many)),
      anyText,
    );
    const sent = fc.record({ body, role: fc.constantFrom('admin', 'admin', 'user') });
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const statuses = await hold(sent, ({ body: text, role }) =>
      send({ path: '/mcp', method: 'POST', headers: { ...headers, ...bearer(role) }, body: text }),
    );
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400]));
  },
  TIMEOUT_MS,
);

test(
  'entities of a gateway',
  async () => {
    const query = `query ($representations: [_Any!]!) {
      _entities(representations: $representations) {
        ... on Member { memberId name isFollowed } ... on Ref { refId label pinned { id } } ... on Action { id scope refs { label } }
      }
    }`;
    const valid: Json = {
      representations: [
        { __typename: 'Member', memberId: 'ann' },
        { __typename: 'Ref', refId: 'site' },
        { __typename: 'Action', id: world.ids.action },
      ],
    };
    let entities = 0;
    await hold(spoilt(valid), async (variables) => {
      const answer = await sendQuery(world, { query, variables: JSON.stringify(variables) });
      if (answer.data !== null) entities += 1;
      return answer;
    });
    expect(entities).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test(
  'messages of a stream',
  async () => {
    const { core } = world.app;
    const record = publisher(core, new Acting(null));
    let count = 0;
    let recorded = 0;
    await hold(
      fc.array(fc.oneof({ weight: 9, arbitrary: anyLine }, fc.constant(null)), {
        minLength: 1,
        maxLength: 6,
      }),
      async (texts) => {
        const stop = new AbortController();
        const messages = texts.map((text): Message => ({ id: `s ${String((count += 1))}`, text }));
        const codes: string[] = [];
        let left: readonly Message[] = messages;
        await consume(
          () =>
            Promise.resolve({
              async read() {
                const all = left;
                left = [];
                // A stream without messages waits, too.
                if (all.length === 0) await new Promise((resolve) => setImmediate(resolve));
                return all;
              },
              hold: () => Promise.resolve(),
              conclude: () => Promise.resolve(),
              [Symbol.asyncDispose]: () => Promise.resolve(),
            }),
          {
            ...{ bounds: DEFAULT_LIMITS.json, publish: record, signal: stop.signal, againAfterMs: 1 },
            onConcluded(conclusion) {
              recorded += conclusion.recorded.length;
              codes.push(...conclusion.refused.map(({ code }) => code));
              expect(conclusion.recorded.length + conclusion.refused.length).toBe(messages.length);
              stop.abort();
            },
            onFailure(error) {
              codes.push('INTERNAL_SERVER_ERROR', String(error));
              stop.abort();
            },
          },
          HOLD_EVERY_MS,
        );
        return { status: 200, text: codes.map((code) => `"code":"${code}"`).join() };
      },
    );
    expect(recorded).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test(
  'events of mails, and their links',
  async () => {
    const keys = [signingKey(SECRET) ?? new Uint8Array()];
    const bounce: Json = {
      type: 'mail.bounced',
      data: { email: 'a@b.example', isPermanent: true, error: '550' },
    };
    const event = fc.record({
      body: fc.oneof({ weight: 5, arbitrary: spoilt(bounce).map((one) => JSON.stringify(one)) }, anyText),
      isSigned: fc.constantFrom(true, true, true, false),
      id: anyHeader,
    });
    const statuses = await hold(event, ({ body, isSigned, id }) => {
      const signed = signatureHeaders(keys, { id: 'msg', sentAt: new Date(), body });
      const headers = isSigned ? signed : { ...signed, 'webhook-id': id };
      return send({ path: '/mail/events', method: 'POST', headers, body });
    });
    expect([...statuses]).toEqual(expect.arrayContaining([204, 400, 401]));
    const link = fc.record({ part: anyPart, method: fc.constantFrom('GET', 'POST'), body: anyText });
    await hold(link, ({ part, method, body }) =>
      send({ path: `/mail/unsubscribe?t=${part}`, method, ...(method === 'POST' ? { body } : {}) }),
    );
  },
  TIMEOUT_MS,
);

test(
  'elements',
  async () => {
    const asked = fc.record({
      part: fc.oneof(fc.constant(''), anyPart),
      method: fc.constantFrom('GET', 'HEAD', 'POST'),
      headers: fc.record(
        { 'accept-encoding': anyHeader, 'if-none-match': anyHeader, range: anyHeader },
        { requiredKeys: [] },
      ),
      body: anything,
    });
    const statuses = await hold(asked, ({ part, method, headers, body }) =>
      send({
        ...{ path: `/elements.js${part === '' ? '' : `?${part}`}`, method, headers },
        ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
      }),
    );
    expect([...statuses]).toEqual(expect.arrayContaining([200, 405]));
  },
  TIMEOUT_MS,
);
