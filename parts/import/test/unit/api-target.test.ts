import { expect, it } from 'vitest';
import type { ApiClient } from '../../../../src/cli/api-client.ts';
import { apiTarget } from '../../src/target.ts';

/** A client of a server whose lanes have so much to deliver. */
function serverWith(pending: readonly number[]): ApiClient {
  return {
    run: <T>(): Promise<T> =>
      Promise.resolve({ work: { lanes: pending.map((count) => ({ pending: count })) } } as T),
  };
}

it('counts pending deliveries of all lanes, without an upper limit', async () => {
  expect(await apiTarget(serverWith([1, 20, 1_000_000])).openFanOuts()).toBe(1_000_021);
  expect(await apiTarget(serverWith([0, 0, 0])).openFanOuts()).toBe(0);
});
