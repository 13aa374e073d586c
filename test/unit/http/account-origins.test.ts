import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { claimIn } from '../../../src/http/identity/auth.ts';
import { accountOrigins } from '../../../src/http/pages/account-origins.ts';

/** @param says what the provider says of itself; null: nothing */
async function provider(says: (issuer: string) => unknown) {
  let asked = 0;
  const server = createServer((req, res) => {
    asked += 1;
    const said = req.url === '/realm/.well-known/openid-configuration' ? says(issuer) : null;
    res.writeHead(said === null ? 404 : 200).end(typeof said === 'string' ? said : JSON.stringify(said));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const issuer = `${origin}/realm`;
  return {
    ...{ issuer, origin, asked: () => asked },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

test('the console may call where the provider gives tokens and takes them back, for which it is asked once an hour', async () => {
  await using one = await provider((issuer) => ({
    ...{ issuer, token_endpoint: 'https://tokens.example/token' },
    ...{ revocation_endpoint: `${issuer}/revoke`, userinfo_endpoint: 'https://other.example/me' },
  }));
  const origins = accountOrigins(one.issuer);
  const answers = await Promise.all([origins(), origins()]);
  answers.push(await origins());
  expect(answers).toEqual(Array(3).fill([one.origin, 'https://tokens.example']));
  expect(one.asked()).toBe(1);
});

test.each<[string, (issuer: string) => unknown]>([
  ['of another issuer', () => ({ issuer: 'https://eve.example', token_endpoint: 'https://eve.example/t' })],
  ['nothing', () => null],
  ['no JSON', () => '<html>'],
  ['null', () => 'null'],
  [
    'too much',
    (issuer) => JSON.stringify({ issuer, token_endpoint: 'https://a.example', x: 'x'.repeat(300_000) }),
  ],
  ['no address', (issuer) => ({ issuer, token_endpoint: "'self' *", revocation_endpoint: 7 })],
  [
    'any host',
    (issuer) => ({ issuer, token_endpoint: 'https://*', revocation_endpoint: 'https://a;b.example' }),
  ],
  ['a script', (issuer) => ({ issuer, token_endpoint: 'javascript:alert(1)' })],
])('of a provider that says %s only its own origin is known', async (_what, says) => {
  await using one = await provider(says);
  expect(await accountOrigins(one.issuer)()).toEqual([one.origin]);
});

test('of a provider that goes on and on little is read', async () => {
  let sent = 0;
  const piece = Buffer.alloc(65_536, ' ');
  const server = createServer((_req, res) => {
    const send = (): void => {
      while (!res.destroyed && res.write(piece)) sent += piece.length;
    };
    res.on('drain', send);
    send();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  try {
    expect(await accountOrigins(`${origin}/realm`)()).toEqual([origin]);
    // What waits in the buffers of the two ends.
    expect(sent).toBeLessThan(32 * 1_048_576);
  } finally {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

test('what it said last stays while it does not answer', async () => {
  let isAway = false;
  await using one = await provider((issuer) =>
    isAway ? null : { issuer, token_endpoint: 'https://tokens.example/token' },
  );
  const origins = accountOrigins(one.issuer);
  const before = await origins();
  isAway = true;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_001 });
  try {
    expect([await origins(), one.asked()]).toEqual([before, 2]);
  } finally {
    vi.useRealTimers();
  }
});

test.each<[string, unknown]>([
  ['roles', ['top']],
  ['https://feed.example/roles', ['by a URL']],
  ['realm_access.roles', ['within']],
  ['a.b', ['of that name']],
  ['a.c', undefined],
  ['a.b.d', undefined],
  ['roles.length', 1],
  ['a.constructor', undefined],
  ['constructor.name', undefined],
  ['missing', undefined],
])('the claim %s is found by its name, or else by its path', (name, value) => {
  const claims = {
    ...{ roles: ['top'], 'https://feed.example/roles': ['by a URL'], 'a.b': ['of that name'] },
    ...{ realm_access: { roles: ['within'] }, a: { b: ['within'] } },
  };
  expect(claimIn(claims, name)).toEqual(value);
});
