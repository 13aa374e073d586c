import type { Identity } from '../../src/domain/viewer.ts';
import type { NewsfeedItem } from '../../src/domain/newsfeed-item.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { Services } from './services.ts';
import type { FeedEvent, FeedFilter, FeedPage, UnreadCount } from '../../src/core/shapes.ts';
import type { Parts } from './parts.ts';

/** What a list shows of an item. */
export interface Listed extends Pick<
  NewsfeedItem,
  'actionId' | 'action' | 'relevancy' | 'reasons' | 'isUnread'
> {
  /** Where it was asked for. */
  readonly beside: unknown;
}

/** A list that a client keeps below the API: one whole read, then nothing but events; another read at each resync. */
export interface LiveList extends AsyncDisposable {
  readonly shown: ReadonlyMap<string, Listed>;
  /** Why the feed was read again. */
  readonly resyncs: readonly string[];
  /** Every event but `ready`, in order. */
  readonly events: readonly FeedEvent[];
  /** Of the feed: what was read with the list or sent since, of a list that asks for it. */
  unread(): UnreadCount | null;
  /** Resolves when everything that was appended before the call has been taken. */
  caughtUp(): Promise<void>;
}

export interface LiveListOptions {
  readonly filter?: FeedFilter;
  readonly pageSize?: number;
  readonly withUnread?: boolean;
  /** What is shown beside each item, read by the session that the item came with. */
  readonly beside?: (session: ReaderSession, item: NewsfeedItem) => Promise<unknown>;
  /** Called before each read of the feed. */
  readonly onRead?: () => Promise<void>;
}

let markers = 0;

export async function openLiveList(
  { services, live, session }: Pick<Parts, 'services' | 'live' | 'session'>,
  identity: Identity,
  { filter, pageSize = 100, withUnread = false, beside, onRead }: LiveListOptions = {},
): Promise<LiveList> {
  const controller = new AbortController();
  const { userId } = identity;
  const shown = new Map<string, Listed>();
  const resyncs: string[] = [];
  const events: FeedEvent[] = [];
  let unread: UnreadCount | null = null;
  const awaited = new Map<string, () => void>();
  const source = await services.watchFeed(identity, {
    signal: controller.signal,
    withUnread,
    ...(filter === undefined ? {} : { filter }),
  });
  async function withBeside(reading: ReaderSession, item: NewsfeedItem): Promise<Listed> {
    return { ...item, beside: await beside?.(reading, item) };
  }
  async function readAgain(): Promise<void> {
    await onRead?.();
    const reading = session(userId, ...identity.roles);
    const items = await wholeList(services, reading, { filter, pageSize });
    const listed = await Promise.all(items.map((item) => withBeside(reading, item)));
    if (withUnread) unread = await services.countUnread(session(userId, ...identity.roles));
    shown.clear();
    // What was bumped while this pages was seen higher up, or its event is still to come.
    for (const item of listed) if (!shown.has(item.actionId)) shown.set(item.actionId, item);
  }
  async function apply(event: FeedEvent): Promise<void> {
    if (event.kind !== 'ready') events.push(event);
    if (event.kind === 'resync') resyncs.push(event.reason);
    if (event.kind === 'ready' || event.kind === 'resync') await readAgain();
    else if (event.kind === 'removed') {
      shown.delete(event.actionId);
      awaited.get(event.actionId)?.();
    } else if (event.kind === 'unread') unread = event.unread;
    else shown.set(event.item.actionId, await withBeside(event.session, event.item));
  }
  let opened: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const reading = (async () => {
    for await (const event of source) {
      await apply(event);
      if (event.kind === 'ready') opened();
    }
  })();
  await Promise.race([isOpen, reading]);
  return {
    ...{ shown, resyncs, events },
    unread: () => unread,
    async caughtUp() {
      // No action has such an id: the removal is announced to everybody.
      const actionId = (++markers).toString(16).padStart(24, '0');
      const isTaken = new Promise<void>((resolve) => awaited.set(actionId, resolve));
      await live.liveLog.append([
        { userId, event: { kind: 'removed', actionId, relevancy: new Date(), reasons: [] } },
      ]);
      await Promise.race([isTaken, reading.then(() => Promise.reject(new Error('The watch has ended')))]);
      awaited.delete(actionId);
    },
    async [Symbol.asyncDispose]() {
      controller.abort();
      await reading;
    },
  };
}

/** Every item that the filter lets through, page by page. */
export async function wholeList(
  services: Pick<Services, 'readFeed'>,
  session: Parameters<Services['readFeed']>[0],
  { filter, pageSize }: { readonly filter?: FeedFilter | undefined; readonly pageSize: number },
): Promise<NewsfeedItem[]> {
  const items: NewsfeedItem[] = [];
  let after: string | null = null;
  for (;;) {
    const page: FeedPage = await services.readFeed(session, {
      first: pageSize,
      after,
      ...(filter === undefined ? {} : { filter }),
    });
    items.push(...page.edges.map(({ node }) => node));
    if (!page.hasMore) return items;
    after = page.end;
  }
}
