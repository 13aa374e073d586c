import type { Cache } from '@urql/exchange-graphcache';

/** A page of a list, as graphcache has it. */
export interface CachedPage {
  readonly key: string;
  readonly fieldKey: string;
  readonly after: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments that say which part of a list it is, not which list. */
const OF_PAGES = new Set(['first', 'after']);

/** The pages of a list that are loaded, in order. @param parent key of what has the list */
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
  const said = Object.entries(args).filter(([name, value]) => value != null && !OF_PAGES.has(name));
  return JSON.stringify(said.sort(([a], [b]) => a.localeCompare(b)));
}

export const pageInfoOf = (cache: Cache, page: string) => cache.resolve(page, 'pageInfo') as string;
export const edgesOf = (cache: Cache, page: CachedPage) => cache.resolve(page.key, 'edges') as string[];
export const nodeOf = (cache: Cache, edge: string) => cache.resolve(edge, 'node') as string;

/** @param node its key */
export function removeNode(cache: Cache, pages: readonly CachedPage[], node: string): void {
  for (const page of pages) {
    const edges = edgesOf(cache, page);
    const others = edges.filter((edge) => nodeOf(cache, edge) !== node);
    if (others.length < edges.length) cache.link(page.key, 'edges', others);
  }
}

/** After the first page was read again the others no longer follow it. */
export function dropLaterPages(cache: Cache, parent: string, pages: readonly CachedPage[]): void {
  for (const { fieldKey, after } of pages) if (after !== null) cache.invalidate(parent, fieldKey);
}

/** `relayPagination` leaves an empty page out: that nothing follows it has to be said by the page before. */
export function endAtEmptyPage(cache: Cache, parent: string, field: string, args: Arguments): void {
  const pages = pagesOf(cache, parent, field, args);
  const { after } = args;
  const empty = pages.find((page) => page.after === after && edgesOf(cache, page).length === 0);
  const before = pages.find(({ key }) => cache.resolve(pageInfoOf(cache, key), 'endCursor') === after);
  if (typeof after === 'string' && empty && before)
    cache.link(before.key, 'pageInfo', pageInfoOf(cache, empty.key));
}
