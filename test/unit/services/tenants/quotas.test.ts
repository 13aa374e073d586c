import { expect, test, vi } from 'vitest';
import { storedId } from '../../../../src/domain/tenant.ts';
import { createPublicationQuota } from '../../../../src/http/limits/publication-quota.ts';
import { takePublications } from '../../../../src/services/tenants/quotas.ts';

const ANN = { userId: storedId('acme', 'ann') };

test('what was not recorded is given back, also where publishing has failed', async () => {
  const publications = createPublicationQuota({ points: 3, seconds: 3_600 });
  const take = (count: number) => takePublications({ publications }, ANN, count);
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

test('what is refused uses nothing up', async () => {
  const publications = createPublicationQuota({ points: 3, seconds: 3_600 });
  expect(await publications.take('acme', 2)).toMatchObject({ granted: 2 });
  const taken = await publications.take('acme', 3);
  expect(taken).toMatchObject({ granted: 1 });
  await taken.giveBack(1);
  expect(await publications.take('acme', 3)).toMatchObject({ granted: 1 });
  expect(await publications.take('acme', 1)).toMatchObject({ granted: 0 });
  expect(await publications.take('other', 4)).toMatchObject({ granted: 3 });
});

test('what is given back after its window has ended adds nothing to the next one', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  try {
    const publications = createPublicationQuota({ points: 3, seconds: 60 });
    const before = await publications.take('acme', 3);
    expect(before.msLeft).toBe(60_000);
    vi.advanceTimersByTime(60_001);
    expect(await publications.take('acme', 1)).toMatchObject({ granted: 1 });
    await before.giveBack(3);
    expect(await publications.take('acme', 5)).toMatchObject({ granted: 2 });
  } finally {
    vi.useRealTimers();
  }
});
