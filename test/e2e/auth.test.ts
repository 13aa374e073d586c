import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, TEST_SECRET, type TestApp } from '../support/app.ts';
import { startTestHttp } from '../support/http.ts';
import { openSocket } from '../support/socket.ts';
import { signTestToken } from '../support/tokens.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(async () => app[Symbol.asyncDispose]());

const soon = (): number => Math.floor(Date.now() / 1_000) + 60;

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly type: string | null;
  readonly body: unknown;
}

async function ask(
  authorization?: string,
  query = '{ viewer { memberId } }',
  url = app.url,
): Promise<Answer> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
    body: JSON.stringify({ query }),
  });
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    type: response.headers.get('content-type'),
    body: await response.json(),
  };
}

const refused = {
  status: 401,
  challenge: 'Bearer realm="fanfare"',
  body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
};

function unsigned(header: object, claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.`;
}

describe('tokens', () => {
  test('accepts a valid one', async () => {
    const token = await signTestToken({ sub: 'rita', exp: soon() });
    expect(await ask(`Bearer ${token}`)).toMatchObject({
      status: 200,
      body: { data: { viewer: { memberId: 'rita' } } },
    });
    expect(await ask(`bearer ${token}`)).toMatchObject({ status: 200 });
  });

  const claims = { sub: 'rita', roles: ['admin'], exp: soon() };
  const tokens: [string, () => string | Promise<string>][] = [
    ['one that has ended', () => signTestToken({ sub: 'rita', exp: soon() - 61 })],
    ['one that is not valid yet', () => signTestToken({ ...claims, nbf: soon() })],
    ['one without an end', () => signTestToken({ sub: 'rita' })],
    ['one whose end is no number', () => signTestToken({ sub: 'rita', exp: 'never' as unknown as number })],
    ['one without a subject', () => signTestToken({ exp: soon() })],
    ['one with an empty subject', () => signTestToken({ sub: '', exp: soon() })],
    ['one whose subject is no text', () => signTestToken({ sub: 1 as unknown as string, exp: soon() })],
    ['one whose subject is too long', () => signTestToken({ sub: 'x'.repeat(257), exp: soon() })],
    ['one whose subject has control characters', () => signTestToken({ sub: 'a\nb', exp: soon() })],
    ['one whose subject is blank', () => signTestToken({ sub: ' \u00a0\u3000', exp: soon() })],
    [
      'one whose subject cannot be seen',
      () => signTestToken({ sub: '\u200b\u2060\ufe0f\u3164\u00ad\u2800', exp: soon() }),
    ],
    ['one signed with another secret', () => signTestToken(claims, { secret: `${TEST_SECRET}!` })],
    [
      'one with another algorithm',
      () => signTestToken(claims, { alg: 'HS512', secret: TEST_SECRET.repeat(2) }),
    ],
    ['one with the algorithm none', () => unsigned({ alg: 'none', typ: 'JWT' }, claims)],
    ['one with the algorithm HS256 and no signature', () => unsigned({ alg: 'HS256' }, claims)],
    [
      'one whose claims were changed',
      async () => {
        const [head, , signature] = (await signTestToken({ sub: 'rita', exp: soon() })).split('.');
        const [, body] = (await signTestToken(claims)).split('.');
        return `${head ?? ''}.${body ?? ''}.${signature ?? ''}`;
      },
    ],
    ['one that is far too long', () => signTestToken({ ...claims, filler: 'x'.repeat(9_000) })],
    ['one that is no token', () => 'nonsense'],
    ['an empty one', () => ''],
  ];
  test.each(tokens)('rejects %s', async (_what, make) => {
    expect(await ask(`Bearer ${await make()}`)).toMatchObject(refused);
  });

  test('accepts a token in one spelling only', async () => {
    const token = await signTestToken({ sub: 'rita', exp: soon() });
    expect(await ask(`Bearer ${token}`)).toMatchObject({ status: 200 });
    // Decoders skip the last two bits of the signature, know a second alphabet, and take padding.
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const digit = last.indexOf(token.at(-1) ?? '');
    const others = [1, 2, 3].map((bits) => token.slice(0, -1) + String(last[digit ^ bits]));
    for (const other of [...others, `${token}=`, token.replaceAll('-', '+').replaceAll('_', '/') + '==='])
      expect(await ask(`Bearer ${other}`), other).toMatchObject(refused);
  });

  test('accepts a subject with blanks and joiners between visible characters', async () => {
    for (const sub of ['Rita Lee', '👩\u200d💻', 'می\u200cخواهم'])
      expect(await ask(`Bearer ${await signTestToken({ sub, exp: soon() })}`)).toMatchObject({
        body: { data: { viewer: { memberId: sub } } },
      });
  });

  test('rejects a subject without visible characters on every transport', async () => {
    const token = await signTestToken({ sub: '\u200b', exp: soon() });
    const query = encodeURIComponent('subscription { feedEvents { cursor } }');
    const stream = await fetch(`${app.url}/graphql?query=${query}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
    });
    expect(stream.status).toBe(401);
    await stream.body?.cancel();
    await using socket = await openSocket(app.wsUrl);
    socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    expect(await socket.closed).toEqual({ code: 4403, reason: 'The token has no valid subject (sub)' });
  });

  test.each(['Basic cml0YTpzZWNyZXQ=', 'Bearer', 'Bearer a b', 'Token x'])(
    'rejects the authorization "%s"',
    async (value) => {
      expect(await ask(value)).toMatchObject(refused);
    },
  );

  test('rejects an invalid token even where none is needed', async () => {
    expect(await ask('Bearer nonsense', '{ __typename }')).toMatchObject(refused);
  });

  test('answers too large a header with 431', async () => {
    const response = await fetch(`${app.url}/health`, {
      headers: { authorization: `Bearer ${'x'.repeat(20_000)}` },
    });
    expect(response.status).toBe(431);
  });

  test('rejects a token that was accepted before once it has expired', async () => {
    const exp = soon();
    const token = await signTestToken({ sub: 'rita', exp });
    expect((await ask(`Bearer ${token}`)).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: exp * 1_000 - 1 });
    try {
      expect((await ask(`Bearer ${token}`)).status).toBe(200);
      vi.setSystemTime(exp * 1_000);
      expect((await ask(`Bearer ${token}`)).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });

  test('logs which client error it is, but never the token', async () => {
    const token = await signTestToken(
      { sub: 'rita', exp: soon() },
      { secret: 'another-secret-that-is-long-enough!' },
    );
    await ask(`Bearer ${token}`);
    expect(app.log.join('')).toContain('Token refused');
    expect(app.log.join('')).not.toContain(token);
  });
});

describe('roles', () => {
  const mutation = 'mutation { upsertRefs(refs: []) }';
  test.each([
    ['none', undefined, 'FORBIDDEN'],
    ['user', ['user'], 'FORBIDDEN'],
    ['no list', 'service', 'FORBIDDEN'],
    ['only unknown ones', ['root', 1, null], 'FORBIDDEN'],
    ['service among unknown ones', ['root', 'service'], undefined],
  ])('reads roles: %s', async (_what, roles, code) => {
    const { body } = await ask(
      `Bearer ${await signTestToken({ sub: 'rita', roles, exp: soon() })}`,
      mutation,
    );
    const { errors } = body as { errors?: { extensions: { code: string } }[] };
    expect(errors?.[0]?.extensions.code).toBe(code);
  });
});

describe('without a token', () => {
  test.each([
    ['{ __typename }'],
    ['{ __schema { queryType { name } } }'],
    ['{ ...F } fragment F on Query { ... { __type(name: "Action") { name } } }'],
  ])('answers %s', async (query) => {
    expect(await ask(undefined, query)).toMatchObject({ status: 200, body: { data: {} } });
  });

  test.each([
    ['{ viewer { memberId } }'],
    ['{ __typename viewer { memberId } }'],
    ['{ ...F } fragment F on Query { ... on Query { viewer { memberId } } }'],
    ['mutation { follow(refId: "x") { refId } }'],
    ['mutation { __typename }'],
    ['subscription { feedEvents { cursor } }'],
  ])('rejects %s', async (query) => {
    expect(await ask(undefined, query)).toMatchObject({
      ...refused,
      type: expect.stringContaining('json') as unknown,
    });
  });

  test('answers nothing at all if introspection is off', async () => {
    await using server = await startTestHttp(app, { introspection: false });
    for (const query of ['{ __typename }', '{ nothing }', '{'])
      expect(await ask(undefined, query, server.url)).toMatchObject(refused);
    const authorization = `Bearer ${await app.token('rita')}`;
    expect(await ask(authorization, '{ __typename }', server.url)).toMatchObject({ status: 200 });
    expect(await ask(authorization, '{ __type(name: "Action") { name } }', server.url)).toMatchObject({
      body: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    });
  });
});

describe('keys from a JWKS', () => {
  /** A server of keys that can fall silent. */
  async function startKeyServer(keys: object[]) {
    const state = { isUp: true };
    const server = createServer((_req, res) => {
      res.writeHead(state.isUp ? 200 : 500, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return {
      state,
      jwksUri: `http://127.0.0.1:${String(port)}/keys`,
      [Symbol.asyncDispose]: () =>
        new Promise<void>((resolve) => {
          server.close(() => {
            resolve();
          });
          server.closeAllConnections();
        }),
    };
  }

  test('accepts only tokens signed with them', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const stranger = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
    await using keys = await startKeyServer([jwk]);
    await using server = await startTestHttp(app, { auth: { jwksUri: keys.jwksUri } });
    const sign = (key: CryptoKey, kid: string): Promise<string> =>
      new SignJWT({ sub: 'rita', exp: soon() }).setProtectedHeader({ alg: 'ES256', kid }).sign(key);
    const query = '{ viewer { memberId } }';

    expect(await ask(`Bearer ${await sign(privateKey, 'k1')}`, query, server.url)).toMatchObject({
      status: 200,
    });
    expect(await ask(`Bearer ${await sign(stranger.privateKey, 'k1')}`, query, server.url)).toMatchObject(
      refused,
    );
    expect(await ask(`Bearer ${await sign(privateKey, 'k2')}`, query, server.url)).toMatchObject(refused);
    // The public key is no secret, and must not be taken for one.
    const forged = new SignJWT({ sub: 'rita', exp: soon() })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(new TextEncoder().encode(JSON.stringify(jwk)));
    expect(await ask(`Bearer ${await forged}`, query, server.url)).toMatchObject(refused);
  });

  test('answers UNAVAILABLE if the keys cannot be fetched', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    await using keys = await startKeyServer([]);
    keys.state.isUp = false;
    await using server = await startTestHttp(app, { auth: { jwksUri: keys.jwksUri } });
    const token = await new SignJWT({ sub: 'rita', exp: soon() })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(privateKey);
    expect(await ask(`Bearer ${token}`, undefined, server.url)).toMatchObject({
      status: 503,
      body: { errors: [{ extensions: { code: 'UNAVAILABLE' } }] },
    });
  });
});

describe('issuer and audience', () => {
  test('are required if they are configured', async () => {
    await using server = await startTestHttp(app, {
      auth: { secret: TEST_SECRET, issuer: 'https://issuer.example', audience: 'fanfare' },
    });
    const right = { sub: 'rita', exp: soon(), iss: 'https://issuer.example', aud: 'fanfare' };
    const query = '{ viewer { memberId } }';
    expect(await ask(`Bearer ${await signTestToken(right)}`, query, server.url)).toMatchObject({
      status: 200,
    });
    const { iss, aud, ...bare } = right;
    for (const wrong of [
      { ...right, iss: 'https://other.example' },
      { ...right, aud: 'other' },
      { ...bare, iss },
      { ...bare, aud },
    ])
      expect(await ask(`Bearer ${await signTestToken(wrong)}`, query, server.url)).toMatchObject(refused);
  });
});
