import type { FeedClient } from '@fanfare/client';
import { FIRST_UNREAD } from '../documents.ts';
import { expectFields, type FanfareItem } from '../item.ts';
import { queryOf, type FeedOptions, type ListedPage, type WhichList } from './feed-options.ts';
import type { PageQuery } from './list-store.ts';

const LARGEST_PAGE = 100;

interface FirstUnread {
  readonly viewer: {
    readonly firstUnread: { readonly cursor: string; readonly item: { readonly id: string } } | null;
  };
}

/** Where the reader left off; null: nothing is unread. `cursor` is `after` of a page that begins there. Rejects with a FeedClientError. */
export async function findFirstUnread(client: Pick<FeedClient, 'request'>, { view, listId }: WhichList = {}) {
  return (await client.request<FirstUnread>(FIRST_UNREAD, { view, listId })).viewer.firstUnread;
}

/** The `after` of a list that nothing is loaded of; undefined: it begins at the top. */
export async function startOf(
  client: Pick<FeedClient, 'request'>,
  options: FeedOptions,
): Promise<string | undefined> {
  const { from, order = 'RELEVANCY' } = options;
  if (from === undefined || order !== 'RELEVANCY') return undefined;
  return (await findFirstUnread(client, options))?.cursor;
}

/** @param start of the list; a page without `after` and `before` begins there */
export async function readPage(
  client: Pick<FeedClient<FanfareItem>, 'feed'>,
  options: FeedOptions,
  { first = options.first ?? 25, after, before }: PageQuery = {},
  start?: string,
): Promise<ListedPage> {
  const from = after ?? start;
  // One more: a page after that one begins where this list does.
  const part =
    before === undefined
      ? { first, ...(from && { after: from }) }
      : { last: Math.min(LARGEST_PAGE, first + 1), before };
  const page = await client.feed({ ...queryOf(options), ...part });
  for (const { node } of page.edges) expectFields(node);
  const [above, ...edges] = page.edges;
  if (before === undefined)
    return start === undefined || after !== undefined
      ? page
      : { ...page, top: { after: start, before: above?.cursor ?? start } };
  const [lowest] = edges;
  return page.pageInfo.hasPreviousPage === true && above && lowest
    ? { ...page, edges, top: { after: above.cursor, before: lowest.cursor } }
    : page;
}
