import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../../src/cli/api-client.ts';
import { apiTarget } from '../../../../src/cli/import/api-target.ts';

/** A client of a server with so many open fan-outs of each state, listed a hundred at a time. */
function serverWith(open: Readonly<Record<string, number>>): ApiClient {
  return {
    run: <T>(_query: string, variables: Readonly<Record<string, unknown>>): Promise<T> => {
      const all = open[String(variables['state'])] ?? 0;
      const from = Number(variables['after'] ?? 0);
      const to = Math.min(all, from + 100);
      const edges = Array.from({ length: to - from }, (_, n) => ({ cursor: String(from + n) }));
      const pageInfo = { hasNextPage: to < all, endCursor: to > from ? String(to) : null };
      return Promise.resolve({ actions: { edges, pageInfo } } as T);
    },
  };
}

describe('waiting for fan-outs through the API', () => {
  it('counts those that are left', async () => {
    const target = apiTarget(serverWith({ IN_PROGRESS: 16, PENDING: 230 }));
    expect(await target.openFanOuts()).toEqual({ count: 246, isAtLeast: false });
    expect(await apiTarget(serverWith({})).openFanOuts()).toEqual({ count: 0, isAtLeast: false });
  });

  it('stops at a limit, and says that there are more', async () => {
    const target = apiTarget(serverWith({ PENDING: 1_000_000 }));
    expect(await target.openFanOuts()).toEqual({ count: 2_000, isAtLeast: true });
  });
});
