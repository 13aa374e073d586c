import { expect, test } from 'vitest';
import { storedId } from '../../../src/domain/tenant.ts';
import type { Role } from '../../../src/domain/viewer.ts';
import { RateLimits, rateLimitHeaders, refusalFor } from '../../../src/http/limits/rate-limit.ts';

test('members of a tenant have a share together, and each one of their own', async () => {
  const limits = new RateLimits({
    requests: { points: 2, seconds: 60 },
    tenantRequests: { points: 3, seconds: 60 },
    tenantCost: { points: 10, seconds: 60 },
  });
  const caller = (userId: string, tenant?: string) => ({
    identity: {
      userId: tenant === undefined ? userId : storedId(tenant, userId),
      roles: new Set<Role>(['user']),
      expiresAt: null,
    },
    address: '',
  });
  const ask = async (userId: string, tenant?: string) =>
    refusalFor(await limits.countRequest(caller(userId, tenant)))?.message ?? null;
  expect([await ask('a:ann', 'a'), await ask('a:ann', 'a'), await ask('a:bob', 'a')]).toEqual([
    null,
    null,
    null,
  ]);
  expect(await ask('a:ann', 'a')).toMatch(/^Too many requests, try again in \d+ s$/);
  expect(await ask('a:cid', 'a')).toMatch(/^Too many requests of the tenant, /);
  expect(await ask('b:ann', 'b')).toBeNull();
  // Where there are no tenants, nothing is counted for one.
  expect((await limits.countRequest(caller('zoe'))).map(({ policy }) => policy.name)).toEqual(['user']);
  const counted = await limits.countCost(caller('a:dan', 'a'), 4);
  expect(rateLimitHeaders(counted)).toEqual({
    'ratelimit-policy': '"tenant-cost";q=10;w=60;fanfare-unit="objects"',
    ratelimit: '"tenant-cost";r=6;t=60',
  });
});
