import { afterEach, expect, test, vi } from 'vitest';
import { storedId } from '../../../src/domain/stored-id.ts';
import type { Role } from '../../../src/domain/viewer.ts';
import { RateLimits, rateLimitHeaders, refusalFor } from '../../../src/http/limits/rate-limit.ts';

afterEach(() => vi.useRealTimers());

function caller(name: string, tenant?: string, role: Role = 'user') {
  const userId = tenant === undefined ? name : storedId(tenant, name);
  return { identity: { userId, roles: new Set([role]), expiresAt: null }, address: '' };
}

const messageOf = async (states: ReturnType<RateLimits['countRequest']>) =>
  refusalFor(await states)?.message.replace(/\d+ s$/, '…') ?? 'OK';

test('members of a tenant share one limit and have one each', async () => {
  const limits = new RateLimits({
    requests: { points: 2, seconds: 60 },
    tenantRequests: { points: 4, seconds: 60 },
    tenantCost: { points: 10, seconds: 60 },
  });
  const ask = (...who: Parameters<typeof caller>) => messageOf(limits.countRequest(caller(...who)));
  expect([await ask('ann', 'a'), await ask('ann', 'a'), await ask('bob', 'a')]).toEqual(['OK', 'OK', 'OK']);
  expect(await ask('ann', 'a')).toBe('Too many requests, try again in …');
  expect([await ask('cid', 'a'), await ask('dan', 'a')]).toEqual([
    'OK',
    'Too many requests of the tenant, try again in …',
  ]);
  expect(await ask('ann', 'b')).toBe('OK');
  // Where there are no tenants, nothing is counted for one.
  expect((await limits.countRequest(caller('zoe'))).map(({ policy }) => policy.name)).toEqual(['user']);
  const counted = await limits.countCost(caller('dan', 'a', 'service'), 4);
  expect(rateLimitHeaders(counted)).toEqual({
    'ratelimit-policy': '"tenant-cost";q=10;w=60;fanfare-unit="objects"',
    ratelimit: '"tenant-cost";r=6;t=60',
  });
});

test('one user does not use up the limit of a tenant, however often requests are rejected', async () => {
  const share = { points: 100, seconds: 60 };
  const limits = new RateLimits({ tenantRequests: share, tenantCost: share });
  for (const count of [
    () => limits.countRequest(caller('ann', 'a')),
    () => limits.countCost(caller('ann', 'a'), 1),
  ]) {
    const answers: string[] = [];
    for (let n = 0; n < 200; n += 1) answers.push(await messageOf(count()));
    expect(answers.filter((answer) => answer === 'OK')).toHaveLength(50);
    expect(answers.at(-1)).toMatch(/for one user's part of the tenant's limit, try again in …$/);
  }
  expect(await messageOf(limits.countRequest(caller('bob', 'a')))).toBe('OK');
  // An operation may be larger than a share, once and as long as there is enough for it.
  expect(await messageOf(limits.countCost(caller('bob', 'a'), 40))).toBe('OK');
  expect(await messageOf(limits.countCost(caller('bob', 'a'), 1))).toMatch(/one user's part/);
  expect(await messageOf(limits.countCost(caller('cid', 'a'), 40))).toMatch(/^Operations of the tenant/);
  // A program of the host may take all that is left.
  expect(await messageOf(limits.countCost(caller('importer', 'a', 'service'), 10))).toBe('OK');
});

test('a clock that is set back locks nobody out for longer', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] });
  const limits = new RateLimits({ requests: { points: 1, seconds: 60 } });
  const ask = async () => (await limits.countRequest(caller('ann')))[0];
  await ask();
  vi.setSystemTime(Date.now() - 600_000);
  expect(await ask()).toMatchObject({ isOver: true, msLeft: 60_000 });
  vi.advanceTimersByTime(60_001);
  expect(await ask()).toMatchObject({ isOver: false });
});
