import { expect, test } from 'vitest';
import { SubscriptionQuota } from '../../../src/http/limits/connections.ts';

test('gives each user a limited number of places, and frees each place once', () => {
  const quota = new SubscriptionQuota(2);
  const first = quota.take('ann');
  const second = quota.take('ann');
  expect(quota.take('ann')).toBeNull();
  expect(quota.take('bob')).not.toBeNull();
  expect(quota.total).toBe(3);
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  expect(quota.total).toBe(2);
  expect(quota.take('ann')).not.toBeNull();
  expect(quota.take('ann')).toBeNull();
  second?.[Symbol.dispose]();
  expect(quota.total).toBe(2);
});
