import { createFeedClient, type FeedItem } from '@fanfare/client';

type Draw = (items: readonly FeedItem[]) => void;

/** Shows the top of the reader's feed live, until the signal aborts. */
export async function showFeed(
  url: string,
  getToken: () => Promise<string>,
  draw: Draw,
  signal: AbortSignal,
) {
  const client = createFeedClient({ url, token: getToken });
  let items = new Map<string, FeedItem>();
  const redraw = () => draw([...items.values()].sort((a, b) => b.relevancy.localeCompare(a.relevancy)));
  await client.watch({
    signal,
    async onResync() {
      const { edges } = await client.feed({ first: 50 });
      items = new Map(edges.map(({ node }) => [node.id, node]));
      redraw();
    },
    onEvent(event) {
      if ('item' in event) items.set(event.item.id, event.item);
      if (event.__typename === 'FeedItemRemoved') items.delete(event.itemId);
      redraw();
    },
  });
}
