import type { FeedClient, FeedFilter, FeedPage } from '@fanfare/client';
import { decodeLiveCursor, readerTag, type LogPosition } from '../../src/live/live-log.ts';

/** What a client shows: relevancies by item. */
export type Shown = ReadonlyMap<string, string>;

/** A client that keeps a copy of one reader's whole feed by nothing but the events it receives. */
export interface Mirror extends AsyncDisposable {
  readonly reader: string;
  readonly filter: FeedFilter | undefined;
  readonly shown: Shown;
  /** The latest unread count; undefined where it is not asked for, or not told yet. */
  readonly unread: number | undefined;
  readonly resyncs: readonly string[];
  readonly eventCount: number;
  /** Events that came twice or out of order. */
  readonly faults: readonly string[];
  /** What came last, with times: for the report of a difference. */
  readonly latest: readonly string[];
}

const PAGE = 100;
const LATEST = 8;

export function openMirror(
  client: FeedClient,
  reader: string,
  { unread, filter }: { readonly unread: boolean; readonly filter?: FeedFilter },
): Mirror {
  const abort = new AbortController();
  const tag = readerTag(reader);
  const resyncs: string[] = [];
  const faults: string[] = [];
  let shown = new Map<string, string>();
  let count: number | undefined;
  let eventCount = 0;
  let last: LogPosition | null = null;
  const latest: string[] = [];
  const note = (what: string): void => {
    latest.push(`${what} at ${new Date().toISOString()}`);
    if (latest.length > LATEST) latest.shift();
  };
  const watching = client.watch({
    signal: abort.signal,
    unread,
    ...(filter === undefined ? {} : { filter }),
    async onResync(reason, cursor) {
      note(`resync ${reason}, now reading`);
      const feed = await wholeFeed(client, filter);
      shown = new Map(feed.shown);
      resyncs.push(reason);
      note(`read ${String(shown.size)}`);
      last = decodeLiveCursor(tag, cursor);
    },
    onEvent(event) {
      // A count has the cursor of the event before it.
      if (event.__typename === 'UnreadCountChanged') {
        count = event.unread.count;
        return;
      }
      eventCount += 1;
      note(`${event.__typename} ${event.cursor}`);
      const position = decodeLiveCursor(tag, event.cursor);
      if (position === null || (last !== null && !follows(position, last)))
        faults.push(`${JSON.stringify(position)} after ${JSON.stringify(last)}`);
      last = position;
      if (event.__typename === 'FeedItemRemoved') shown.delete(event.itemId);
      else shown.set(event.item.id, event.item.relevancy);
    },
  });
  const ended = watching.catch((error: unknown) => {
    faults.push(`The watch ended: ${String(error)}`);
  });
  return {
    ...{ reader, filter },
    get shown() {
      return shown;
    },
    get unread() {
      return count;
    },
    get eventCount() {
      return eventCount;
    },
    resyncs,
    faults,
    latest,
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended;
    },
  };
}

function follows(next: LogPosition, last: LogPosition): boolean {
  return next.generation === last.generation && next.sequence > last.sequence;
}

/** Every item of a reader's feed that the filter lets through, in its order, and the unread count. Rejects with a FeedClientError. */
export async function wholeFeed(
  client: Pick<FeedClient, 'feed'>,
  filter?: FeedFilter,
): Promise<{ readonly shown: Shown; readonly unread: FeedPage['unread'] }> {
  const shown = new Map<string, string>();
  let after: string | null = null;
  for (;;) {
    const page: FeedPage = await client.feed({
      first: PAGE,
      ...(after === null ? {} : { after }),
      ...(filter === undefined ? {} : { filter }),
    });
    // What was bumped while this pages has been seen, higher up, or is announced by an event that is still to come.
    for (const { node } of page.edges) if (!shown.has(node.id)) shown.set(node.id, node.relevancy);
    if (!page.pageInfo.hasNextPage) return { shown, unread: page.unread };
    after = page.pageInfo.endCursor;
  }
}
