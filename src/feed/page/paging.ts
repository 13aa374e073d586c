import type { Extent } from '../extent.ts';
import type { FeedPosition } from '../../domain/newsfeed-item.ts';
import { badInput } from '../../domain/errors.ts';
import type { Page, PageArgs } from '../../core/shapes.ts';
import type { Stretch } from '../../storage/documents/keyset.ts';

export const MAX_PAGE_SIZE = 100;

export interface PageSizes {
  readonly standard: number;
  readonly most: number;
}
export const SIZES: PageSizes = { standard: 25, most: MAX_PAGE_SIZE };

/**
 * @param sizes default: 25, at most 100
 * @throws FanfareError BAD_USER_INPUT unless absent or an integer from 1 to `most`.
 */
export function pageSize(
  size: number | null | undefined,
  sizes: PageSizes = SIZES,
  argument = 'first',
): number {
  if (size == null) return sizes.standard;
  if (!Number.isInteger(size) || size < 1 || size > sizes.most)
    throw badInput(`Must be from 1 to ${String(sizes.most)}, got ${String(size)}`, [argument]);
  return size;
}

/** Which page of a list is asked for. */
export interface AskedPage<P> {
  readonly size: number;
  /** The page before a place, or the last one. */
  readonly isUp: boolean;
  /** Exclusive; `null`: from the top, or upwards from the end. */
  readonly from: P | null;
}

/**
 * @param positionIn reads a cursor of the list
 * @param sizes default: 25, at most 100
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export function askedPage<P>(
  { first, after, last, before }: PageArgs,
  positionIn: (cursor: string) => P,
  sizes = SIZES,
): AskedPage<P> {
  const isUp = last != null || before != null;
  if (isUp && (first != null || after != null))
    throw badInput('`first` goes with `after`, and `last` with `before`', [
      first == null ? 'after' : 'first',
    ]);
  const cursor = isUp ? before : after;
  return {
    size: isUp ? pageSize(last, sizes, 'last') : pageSize(first, sizes),
    isUp,
    from: cursor == null ? null : positionIn(cursor),
  };
}

/**
 * Collects one page of candidates that pass the rules. Looks for one item more than the page holds, so that `hasMore` is
 * exact, and continues while the rules leave gaps, or until the scans stop: the page is short then, and ends where they stopped.
 *
 * @param scan the next candidates, in the direction of the page.
 * @param select the visible ones, in the same order.
 * @param cursorOf is called in the direction of the page.
 */
export async function collectPage<P, C extends P, T>(options: {
  readonly page: AskedPage<P>;
  readonly scan: (stretch: Stretch<P>) => Promise<readonly C[]>;
  readonly select: (candidates: readonly C[]) => Promise<readonly T[]>;
  readonly cursorOf: (node: T) => string;
  /** Where the scans stop, before the list ends, and the cursor of that. Default: nowhere. */
  readonly extent?: Extent | undefined;
  readonly cursorAt?: (stop: FeedPosition) => string;
  /** Candidates that were looked at in vain before: so many more are read at first. Default: none */
  readonly missed?: number | undefined;
}): Promise<Page<T>> {
  const { page, scan, select, cursorOf, extent, cursorAt, missed = 0 } = options;
  const { size, isUp } = page;
  const nodes: T[] = [];
  let { from } = page;
  let limit = Math.min(MAX_SCAN, size + 1 + missed);
  let examined = 0;
  for (;;) {
    const candidates = await scan({ from, limit, isUp });
    if (candidates.length > 0) nodes.push(...(await select(candidates)));
    if (candidates.length < limit || nodes.length > size) break;
    from = candidates.at(-1) ?? from;
    examined += candidates.length;
    // Twice as many as are needed if as few pass as have so far, so that a selective filter costs few round trips.
    limit = Math.max(FEW, Math.ceil((2 * (size + 1 - nodes.length) * examined) / (nodes.length + 1)));
    limit = Math.min(MAX_SCAN, limit, extent === undefined ? limit : size + extent.room);
  }
  const edges = nodes.slice(0, size).map((node) => ({ cursor: cursorOf(node), node }));
  if (nodes.length > size) return pageOf(edges, { isUp, hasMore: true });
  const stop = extent?.stop ?? null;
  const found = pageOf(edges, { isUp, hasMore: stop !== null });
  return stop === null ? found : { ...found, end: cursorAt?.(stop) ?? null };
}

/** @param edges in the direction of the page */
export function pageOf<T>(
  edges: Page<T>['edges'],
  { isUp, hasMore }: { readonly isUp: boolean; readonly hasMore: boolean },
): Page<T> {
  return { edges: isUp ? edges.toReversed() : edges, hasMore, end: edges.at(-1)?.cursor ?? null };
}

/** Upper bound on candidates examined in one round trip. */
const MAX_SCAN = 500;
const FEW = 10;
