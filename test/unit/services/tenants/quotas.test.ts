import { expect, test } from 'vitest';
import { storedId } from '../../../../src/domain/tenant.ts';
import { createPublicationQuota } from '../../../../src/http/publication-quota.ts';
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
