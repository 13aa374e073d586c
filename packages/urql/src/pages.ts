import type { Starts } from '@fanfare/client/cache';
import type { Cache, DataField, Resolver } from '@urql/exchange-graphcache';

/** A page of a list in graphcache. */
export interface CachedPage {
  readonly key: string;
  readonly fieldKey: string;
  readonly after: unknown;
  /** It is the page above this cursor. */
  readonly before: unknown;
  readonly size: unknown;
}

/** Whether a list may begin with it. */
const isRoot = ({ after, before }: Pick<CachedPage, 'after' | 'before'>, starts?: Starts): boolean =>
  before === null && (after === null || starts?.has(after as string) === true);

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments that select a part of a list; the others identify the list. */
const OF_PAGES = new Set(['first', 'after', 'last', 'before']);

/** The loaded pages of a list, in order. @param parent the key of the object that has the list */
export function pagesOf(cache: Cache, parent: string, field: string, args: Arguments): CachedPage[] {
  const list = listOf(args);
  return cache
    .inspectFields(parent)
    .filter(({ fieldName, arguments: other }) => fieldName === field && listOf(other ?? {}) === list)
    .flatMap(({ fieldKey, arguments: other }) => {
      const key = cache.resolve(parent, fieldKey);
      return typeof key === 'string' ? [{ ...partOf(other ?? {}), key, fieldKey }] : [];
    });
}

function partOf(args: Arguments): Pick<CachedPage, 'after' | 'before' | 'size'> {
  return {
    after: args['after'] ?? null,
    before: args['before'] ?? null,
    size: args['first'] ?? args['last'],
  };
}

function listOf(args: Arguments): string {
  const given = Object.entries(args).filter(([name, value]) => value != null && !OF_PAGES.has(name));
  return JSON.stringify(given.sort(([a], [b]) => a.localeCompare(b)));
}

export const pageInfoOf = (cache: Cache, page: string) => cache.resolve(page, 'pageInfo') as string;
/** A query of a count alone has none. */
export const edgesOf = (cache: Cache, page: CachedPage) =>
  (cache.resolve(page.key, 'edges') ?? []) as string[];
export const nodeOf = (cache: Cache, edge: string) => cache.resolve(edge, 'node') as string;

/** @param node the key of the node */
export function removeNode(cache: Cache, pages: readonly CachedPage[], node: string): void {
  for (const page of pages) {
    const edges = edgesOf(cache, page);
    const others = edges.filter((edge) => nodeOf(cache, edge) !== node);
    if (others.length < edges.length) cache.link(page.key, 'edges', others);
  }
}

/** Drops the other pages after the first was read again: they no longer follow it. */
export function dropLaterPages(
  cache: Cache,
  parent: string,
  pages: readonly CachedPage[],
  starts?: Starts,
): void {
  for (const page of pages) if (!isRoot(page, starts)) cache.invalidate(parent, page.fieldKey);
}

/** Whether the arguments are those of a page with which a list begins. */
export const isFirst = (args: Arguments, starts?: Starts): boolean => isRoot(partOf(args), starts);

/** The lists that pages make, each as its pages follow each other, up to where the next one is missing. */
export function chainsOf(cache: Cache, pages: readonly CachedPage[], starts?: Starts): CachedPage[][] {
  return pages.filter((page) => isRoot(page, starts)).map((root) => chainFrom(cache, pages, root));
}

function chainFrom(cache: Cache, pages: readonly CachedPage[], root: CachedPage): CachedPage[] {
  const chain = new Set<CachedPage>();
  const next = (is: (page: CachedPage) => boolean): CachedPage | undefined => {
    const found = pages.filter((one) => is(one) && !chain.has(one));
    return found.find(({ size }) => size === root.size) ?? found[0];
  };
  const cursorOf = (page: CachedPage, field: string): unknown =>
    cache.resolve(pageInfoOf(cache, page.key), field) ?? undefined;
  for (let page: CachedPage | undefined = root; page !== undefined;) {
    chain.add(page);
    const end = cursorOf(page, 'endCursor');
    page = next(({ after, before }) => before === null && after === end);
  }
  const below = [...chain];
  for (let page: CachedPage | undefined = root; page !== undefined;) {
    chain.add(page);
    const start = cursorOf(page, 'startCursor');
    page = next(({ before }) => before === start);
  }
  // The pages above were found from below.
  return [...[...chain].slice(below.length).toReversed(), ...below];
}

/**
 * A list as its pages follow each other, up to where the next one is missing. An answer may come after the page before it was read
 * again: joined with what is there (`relayPagination`), it would leave a gap that nothing fills.
 */
export const joinedPages =
  (starts?: Starts): Resolver =>
  (_, args, cache, { parentKey, fieldName }) => {
    const pages = pagesOf(cache, parentKey, fieldName, args);
    const part = partOf(args);
    const isAsked = ({ after, before }: CachedPage): boolean =>
      after === part.after && before === part.before;
    const asked = pages.find((page) => isAsked(page) && page.size === part.size) ?? pages.find(isAsked);
    if (asked === undefined) return undefined;
    const chains = isRoot(asked, starts) ? [chainFrom(cache, pages, asked)] : chainsOf(cache, pages, starts);
    const chain = chains.find((one) => one.includes(asked));
    if (chain === undefined) return asked.key;
    const [first = asked] = chain;
    const last = chain.at(-1) ?? asked;
    // Items move while the reader pages: each is shown once.
    const edges = new Map<string, string>();
    for (const page of chain)
      for (const edge of edgesOf(cache, page)) {
        const node = nodeOf(cache, edge);
        if (!edges.has(node)) edges.set(node, edge);
      }
    const info = (page: CachedPage, field: string): DataField =>
      cache.resolve(pageInfoOf(cache, page.key), field) ?? null;
    return {
      __typename: cache.resolve(asked.key, '__typename') as string,
      edges: [...edges.values()],
      pageInfo: {
        __typename: 'PageInfo',
        ...{ endCursor: info(last, 'endCursor'), hasNextPage: info(last, 'hasNextPage') ?? false },
        ...{
          startCursor: info(first, 'startCursor'),
          hasPreviousPage: info(first, 'hasPreviousPage') ?? false,
        },
      },
    };
  };
