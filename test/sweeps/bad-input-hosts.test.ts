import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { posted } from '../../src/app/hooks.ts';
import { encodeActionId } from '../../src/graphql/global-id.ts';
import { MAX_OFFERED } from '../../src/domain/offer.ts';
import { verdictOf } from '../../src/domain/hook.ts';
import { FanfareError } from '../../src/domain/errors.ts';
import { createOffers, MOST_OFFER_BYTES } from '../../src/features/ranking/offers.ts';
import { createAuthenticator, type Authenticate } from '../../src/http/identity/auth.ts';
import { accountOrigins } from '../../src/http/pages/account-origins.ts';
import { Closer } from '../../src/lib/closer.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { fc } from '../support/fast-check.ts';
import { makeKey, type TestKey } from '../support/key-server.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { IS_DEEP } from '../support/seed.ts';
import { anything, anyText, spoilt, type Json } from '../support/spoilt.ts';
import { signTestToken } from '../support/tokens.ts';
import { TEST_SECRET } from '../support/app.ts';

// What a server asks others for: the host's application, and the provider of its accounts. Each answer is what is valid there with
// some of it exchanged. None may reject in another way than is meant, or let in what was not meant.

const NUM_RUNS = IS_DEEP ? 5_000 : 60;
const TIMEOUT_MS = PATIENCE_MS * (IS_DEEP ? 60 : 2);

let host: Server;
let url = '';
let body = '';
beforeAll(async () => {
  host = createServer((request, response) => {
    request.resume();
    response.end(body);
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  url = `http://127.0.0.1:${String((host.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  host.closeAllConnections();
  await new Promise((resolve) => host.close(resolve));
});

const logged: string[] = [];
const logger = createLogger({ level: 'error', sink: { write: (line: string) => logged.push(line) } });
beforeEach(() => logged.splice(0));

const said = (valid: Json): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: spoilt(valid).map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: anyText },
    fc.nat(80).map((end) => JSON.stringify(valid).slice(0, end)),
    fc.constantFrom(
      '',
      '1e999',
      '[{"actionId":"x","score":NaN}]',
      `${'['.repeat(3_000)}${']'.repeat(3_000)}`,
    ),
  );
const check = <T>(given: fc.Arbitrary<T>, property: (value: T) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(given, property), { numRuns: NUM_RUNS, endOnFailure: true });

const target = () => ({ url, keys: [new Uint8Array(32)], allowPrivateAddress: true });

test(
  'what the source of a view offers',
  async () => {
    await using closer = new Closer();
    const ask = posted('source', target(), { timeoutMs: 60_000, mostBytes: MOST_OFFER_BYTES }, closer);
    const { of } = createOffers({ hostOf: () => ask, onAnswer: () => undefined });
    const valid: Json = [
      { actionId: encodeActionId('0123456789abcdef01234567'), score: 2.5 },
      { actionId: encodeActionId('0123456789abcdef01234568'), score: -1 },
    ];
    let [readers, offered] = [0, 0];
    await check(said(valid), async (answer) => {
      body = answer;
      const offer = await of('picks', `reader${String((readers += 1))}`);
      if (offer === null) return;
      offered += offer.size;
      expect(offer.size).toBeLessThanOrEqual(MAX_OFFERED);
      for (const [id, score] of offer) {
        expect(id).toMatch(/^[0-9a-f]{24}$/);
        expect(Number.isFinite(score)).toBe(true);
      }
    });
    expect(offered).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test(
  'what a hook decides',
  async () => {
    await using closer = new Closer();
    const ask = posted('beforePublish', target(), { timeoutMs: 60_000 }, closer);
    const verdicts = new Set<unknown>();
    await check(said({ verdict: 'hold', message: 'Wait' }), async (answer) => {
      body = answer;
      // Without JSON there is no answer, which is a failure of the hook.
      const verdict = verdictOf(await ask({}).catch(() => 'failed'));
      verdicts.add(verdict?.verdict ?? null);
      if (verdict?.verdict === 'accept' && answer.trim() !== '') {
        const plain =
          (JSON.parse(answer) as { readonly verdict?: unknown } | null)?.verdict ?? JSON.parse(answer);
        expect([null, 'accept']).toContain(plain);
      }
    });
    expect(verdicts.size).toBeGreaterThan(1);
  },
  TIMEOUT_MS,
);

/** Holds for what comes with a request: there is somebody, nobody, or a code that is meant. */
async function identified(authenticate: Authenticate, authorization: string): Promise<string> {
  try {
    const identity = await authenticate(authorization);
    if (identity === null) return 'nobody';
    expect(identity.userId).not.toBe('');
    expect(identity.expiresAt).toBeInstanceOf(Date);
    return [...identity.roles].join(' ');
  } catch (error) {
    expect(error).toBeInstanceOf(FanfareError);
    return (error as FanfareError).code;
  }
}

test(
  'tokens',
  async () => {
    const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
    const claims: Json = {
      ...{ sub: 'ann', exp: inAnHour, iat: 1, nbf: 1, iss: 'https://issuer.example', aud: ['feed'] },
      realm_access: { roles: ['admin', 'service'] },
    };
    const authenticate = createAuthenticator(
      {
        secret: TEST_SECRET,
        audience: 'feed',
        issuer: 'https://issuer.example',
        rolesClaim: 'realm_access.roles',
      },
      logger,
    );
    const sign = async (given: Json): Promise<string> => {
      const isClaims = typeof given === 'object' && given !== null && !Array.isArray(given);
      return isClaims
        ? signTestToken(given as Record<string, unknown>)
        : Buffer.from(String(given)).toString();
    };
    const given = fc.record({
      claims: fc.oneof({ weight: 3, arbitrary: spoilt(claims) }, fc.constant(claims)),
      change: fc.constantFrom('none', 'none', 'none', 'cut', 'none.alg', 'twice', 'swapped'),
      scheme: fc.constantFrom('Bearer ', 'Bearer ', 'bearer ', 'Basic ', ''),
    });
    const seen = new Set<string>();
    const changed = (token: string, change: string): string => {
      const [head = '', payload = '', signature = ''] = token.split('.');
      const plain = Buffer.from('{"alg":"none"}').toString('base64url');
      if (change === 'cut') return token.slice(0, token.length >> 1);
      if (change === 'none.alg') return `${plain}.${payload}.`;
      if (change === 'twice') return `${token} ${token}`;
      return change === 'swapped' ? `${head}.${signature}.${payload}` : token;
    };
    await check(given, async ({ claims: own, change, scheme }) => {
      const result = await identified(authenticate, `${scheme}${changed(await sign(own), change)}`);
      seen.add(result);
      if (change !== 'none') expect(result).toBe('UNAUTHENTICATED');
    });
    expect([...seen]).toEqual(expect.arrayContaining(['UNAUTHENTICATED', 'service admin']));
    await check(anyText, async (text) => {
      expect(['UNAUTHENTICATED']).toContain(await identified(authenticate, text));
    });
    expect(logged).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  'keys of a provider',
  async () => {
    const keys: TestKey[] = [await makeKey('one'), await makeKey('two', 'RS256')];
    const tokens = await Promise.all(keys.map((key) => key.sign('ann')));
    const seen = new Set<string>();
    const valid = { keys: keys.map(({ jwk }) => jwk) } as unknown as Json;
    await check(said(valid), async (answer) => {
      body = answer;
      const authenticate = createAuthenticator({ jwksUri: url }, logger);
      for (const token of tokens) seen.add(await identified(authenticate, `Bearer ${token}`));
    });
    expect([...seen].sort()).toEqual(['UNAUTHENTICATED', 'UNAVAILABLE', 'user']);
  },
  TIMEOUT_MS,
);

/** Hosts of addresses may have what means more than a host in a policy. */
const WIDER = [
  'https://*',
  'https://*.example',
  'https://a;b.example',
  'https://a,b.example',
  "https://'self'",
];

test(
  'what a provider says of itself',
  async () => {
    const seen = new Set<string>();
    const valid = {
      ...{ issuer: url, token_endpoint: 'https://tokens.example/token' },
      ...{ revocation_endpoint: 'https://tokens.example/revoke', scopes_supported: ['openid'] },
    };
    const named = fc.oneof(
      said(valid),
      fc
        .record({ issuer: fc.constant(url), token_endpoint: fc.oneof(fc.constantFrom(...WIDER), anything) })
        .map((one) => JSON.stringify(one)),
    );
    await check(named, async (answer) => {
      body = answer;
      for (const origin of await accountOrigins(url)()) {
        seen.add(origin);
        // It becomes part of a header that says where the page may ask.
        expect(origin).toMatch(/^https?:\/\/[^\s;,'"*]+$/);
      }
    });
    expect([...seen]).toEqual(expect.arrayContaining([url, 'https://tokens.example']));
  },
  TIMEOUT_MS,
);
