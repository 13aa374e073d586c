import type { Cache } from '@urql/exchange-graphcache';

/** A page of a list in graphcache. */
export interface CachedPage {
  readonly key: string;
  readonly fieldKey: string;
  readonly after: unknown;
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
      return typeof key === 'string' ? [{ key, fieldKey, after: other?.['after'] ?? null }] : [];
    });
}

function listOf(args: Arguments): string {
  const given = Object.entries(args).filter(([name, value]) => value != null && !OF_PAGES.has(name));
  return JSON.stringify(given.sort(([a], [b]) => a.localeCompare(b)));
}

export const pageInfoOf = (cache: Cache, page: string) => cache.resolve(page, 'pageInfo') as string;
export const edgesOf = (cache: Cache, page: CachedPage) => cache.resolve(page.key, 'edges') as string[];
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

/** `relayPagination` skips an empty page, so the page before it has to say that nothing follows. */
export function endAtEmptyPage(cache: Cache, parent: string, field: string, args: Arguments): void {
  const pages = pagesOf(cache, parent, field, args);
  const { after } = args;
  const empty = pages.find((page) => page.after === after && edgesOf(cache, page).length === 0);
  const before = pages.find(({ key }) => cache.resolve(pageInfoOf(cache, key), 'endCursor') === after);
  if (typeof after === 'string' && empty && before)
    cache.link(before.key, 'pageInfo', pageInfoOf(cache, empty.key));
}
