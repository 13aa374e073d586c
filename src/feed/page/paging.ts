import { badInput } from '../../domain/errors.ts';
import type { Page } from '../../core/shapes.ts';

export const DEFAULT_PAGE_SIZE = 25;
export const MAX_PAGE_SIZE = 100;

/**
 * @param sizes default: 25, at most 100
 * @throws FanfareError BAD_USER_INPUT unless absent or an integer from 1 to `most`.
 */
export function pageSize(
  first: number | null | undefined,
  sizes: { readonly standard: number; readonly most: number } = {
    standard: DEFAULT_PAGE_SIZE,
    most: MAX_PAGE_SIZE,
  },
): number {
  if (first == null) return sizes.standard;
  if (!Number.isInteger(first) || first < 1 || first > sizes.most)
    throw badInput(`Must be from 1 to ${String(sizes.most)}, got ${String(first)}`, ['first']);
  return first;
}

/**
 * Collects one page of candidates that pass the rules. Looks for one item more than the page holds, so that `hasNextPage` is
 * exact, and continues while the rules leave gaps.
 *
 * @param scan the next candidates after a position, in order. Fewer than `limit` means the end.
 * @param select the visible ones, in the same order.
 */
export async function collectPage<P, C extends P, T>(options: {
  readonly size: number;
  readonly after: P | null;
  readonly scan: (after: P | null, limit: number) => Promise<readonly C[]>;
  readonly select: (candidates: readonly C[]) => Promise<readonly T[]>;
  readonly cursorOf: (node: T) => string;
}): Promise<Page<T>> {
  const { size, scan, select, cursorOf } = options;
  const nodes: T[] = [];
  let after: P | null = options.after;
  let limit = size + 1;
  for (;;) {
    const candidates = await scan(after, limit);
    if (candidates.length > 0) nodes.push(...(await select(candidates)));
    if (candidates.length < limit || nodes.length > size) break;
    after = candidates.at(-1) ?? after;
    // Double the limit after each round, so that a selective filter costs few round trips.
    limit = Math.min(MAX_SCAN, Math.max(limit * 2, size + 1));
  }
  const edges = nodes.slice(0, size).map((node) => ({ cursor: cursorOf(node), node }));
  return { edges, hasNextPage: nodes.length > size, endCursor: edges.at(-1)?.cursor ?? null };
}

/** Upper bound on candidates examined in one round trip. */
const MAX_SCAN = 500;
