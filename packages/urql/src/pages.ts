import type { Cache, DataField, Resolver } from '@urql/exchange-graphcache';

/** A page of a list in graphcache. */
export interface CachedPage {
  readonly key: string;
  readonly fieldKey: string;
  readonly after: unknown;
  readonly first: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments that select a part of a list; the others identify the list. */
const OF_PAGES = new Set(['first', 'after']);

/** The loaded pages of a list, in order. @param parent the key of the object that has the list */
export function pagesOf(cache: Cache, parent: string, field: string, args: Arguments): CachedPage[] {
  const list = listOf(args);
  return cache
    .inspectFields(parent)
    .filter(({ fieldName, arguments: other }) => fieldName === field && listOf(other ?? {}) === list)
    .flatMap(({ fieldKey, arguments: other }) => {
      const key = cache.resolve(parent, fieldKey);
      return typeof key === 'string'
        ? [{ key, fieldKey, after: other?.['after'] ?? null, first: other?.['first'] }]
        : [];
    });
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
export function dropLaterPages(cache: Cache, parent: string, pages: readonly CachedPage[]): void {
  for (const { fieldKey, after } of pages) if (after !== null) cache.invalidate(parent, fieldKey);
}

/**
 * A list as its pages follow each other, up to where the next one is missing. An answer may come after the page before it was read
 * again: joined with what is there (`relayPagination`), it would leave a gap that nothing fills.
 */
export const joinedPages: Resolver = (_, args, cache, { parentKey, fieldName }) => {
  const pages = pagesOf(cache, parentKey, fieldName, args);
  const from = (after: unknown): CachedPage | undefined =>
    pages.find((page) => page.after === after && page.first === args['first']) ??
    pages.find((page) => page.after === after);
  const asked = from(args['after'] ?? null);
  if (asked === undefined) return undefined;
  const chain = new Set<CachedPage>();
  for (let page = from(null); page !== undefined && !chain.has(page);) {
    chain.add(page);
    page = from(cache.resolve(pageInfoOf(cache, page.key), 'endCursor') ?? undefined);
  }
  const [first = asked] = chain;
  const last = [...chain].at(-1) ?? asked;
  if (!chain.has(asked)) return asked.key;
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
