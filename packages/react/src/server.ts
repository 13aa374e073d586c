import type { ClientFields, FeedClient } from '@fanfare/client';
import { operationsOf as operationsOfClient, type Operations } from '@fanfare/client/operations';
import * as documents from './documents.ts';
import { feedItemFields, type FanfareItem } from './item.ts';
import * as moreDocuments from './more-documents.ts';
import { pageKeyOf, type FeedOptions, type FeedSnapshot } from './store/feed-options.ts';
import { readPage, startOf } from './store/feed-pages.ts';

export { feedItemFields } from './item.ts';
export type { FanfareItem } from './item.ts';
export type { FeedOptions, FeedSnapshot } from './store/feed-options.ts';

/**
 * All that the hooks and parts send on their own, for PERSISTED_OPERATIONS of a server that takes nothing else.
 * @param fields as given to the provider or the client; a text has what `feedItemFields` has
 * @param more documents of `useQuery` and `request`
 */
export async function operationsOf(
  fields: string | ClientFields = {},
  more: readonly string[] = [],
): Promise<Operations> {
  const given = typeof fields === 'string' ? { base: fields } : { base: feedItemFields, ...fields };
  const own = [...Object.values(documents), ...Object.values(moreDocuments)];
  return operationsOfClient(given, [
    ...own.map((document) => (typeof document === 'string' ? document : document(given))),
    ...more,
  ]);
}

/**
 * A page of the reader's feed for the HTML. Give it to `<FanfareProvider snapshot>` on the server and, as JSON, in the
 * browser, with the same options in `useFeed`, but for `live`: it is shown without a request and goes on live from there.
 * @param client made with `fields: feedItemFields`. Rejects with a FeedClientError.
 */
export async function prefetchFeed(
  client: Pick<FeedClient<FanfareItem>, 'feed' | 'request'> & Partial<Pick<FeedClient, 'language'>>,
  options: FeedOptions = {},
): Promise<FeedSnapshot> {
  const page = await readPage(client, options, {}, await startOf(client, options));
  return { key: pageKeyOf(options), page, language: client.language };
}
