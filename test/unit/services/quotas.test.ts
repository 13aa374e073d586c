import { expect, test, vi } from 'vitest';
import { storedId } from '../../../src/domain/stored-id.ts';
import type { Role } from '../../../src/domain/viewer.ts';
import { publicationQuota } from '../../../src/app/app.ts';
import { NO_QUOTAS, takePublications } from '../../../src/core/quotas.ts';

const memberOf = (id: string, role: Role) => ({
  userId: storedId('acme', id),
  roles: new Set([role]),
  expiresAt: null,
});
const HOST = memberOf('host', 'service');

test('actions that were not recorded are returned to the quota, also if publishing fails', async () => {
  const publications = publicationQuota({ points: 3, seconds: 3_600 });
  const take = (count: number) => takePublications({ ...NO_QUOTAS, publications }, HOST, count);
  const failing = async (): Promise<void> => {
    await using quota = await take(3);
    expect(quota.granted).toBe(3);
    throw new Error('The database is away');
  };
  await expect(failing()).rejects.toThrow('The database is away');
  {
    await using quota = await take(3);
    expect(quota).toMatchObject({ granted: 3, refusal: null });
    quota.recorded = 2;
  }
  await using quota = await take(2);
  expect(quota).toMatchObject({ granted: 1, refusal: { code: 'RATE_LIMITED' } });
});

test('one user takes at most half of what the others have left, and the host all of it', async () => {
  const publications = publicationQuota({ points: 8, seconds: 3_600 });
  const take = async (id: string, role: Role = 'user') => {
    await using quota = await takePublications({ ...NO_QUOTAS, publications }, memberOf(id, role), 8);
    quota.recorded = quota.granted;
    return [quota.granted, quota.refusal?.message.replace(/\d+ s$/, '')];
  };
  const own = "Too many publications for one user's part of the tenant's limit, try again in ";
  expect([await take('ann'), await take('ann'), await take('bob')]).toEqual([
    [4, own],
    [0, own],
    [2, own],
  ]);
  expect(await take('host', 'service')).toEqual([2, 'Too many publications of the tenant, try again in ']);
  expect(await take('cid')).toEqual([0, 'Too many publications of the tenant, try again in ']);
});

test('rejected actions use nothing', async () => {
  const publications = publicationQuota({ points: 3, seconds: 3_600 });
  expect(await publications.take('acme', null, 2)).toMatchObject({ granted: 2 });
  const taken = await publications.take('acme', null, 3);
  expect(taken).toMatchObject({ granted: 1 });
  await taken.giveBack(1);
  expect(await publications.take('acme', null, 3)).toMatchObject({ granted: 1 });
  expect(await publications.take('acme', null, 1)).toMatchObject({ granted: 0 });
  expect(await publications.take('other', null, 4)).toMatchObject({ granted: 3 });
});

test('actions returned after the end of the window add nothing to the next one', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  try {
    const publications = publicationQuota({ points: 3, seconds: 60 });
    const before = await publications.take('acme', null, 3);
    expect(before.msLeft).toBe(60_000);
    vi.advanceTimersByTime(60_001);
    expect(await publications.take('acme', null, 1)).toMatchObject({ granted: 1 });
    await before.giveBack(3);
    expect(await publications.take('acme', null, 5)).toMatchObject({ granted: 2 });
  } finally {
    vi.useRealTimers();
  }
});
