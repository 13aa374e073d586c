import {
  openOffline as openClientOffline,
  type KeptList,
  type Offline,
  type OfflineOptions,
  type WaitingWrite,
} from '@fanfare/client/offline';
import type { FeedClient, InteractionChange, InteractionKind } from '@fanfare/client';
import type { FanfareItem } from './item.ts';
import { commentsOf, type CommentStore } from './store/comments.ts';
import { pageKeyOf, type ListedPage, type ReadMark } from './store/feed-options.ts';
import type { FeedStore } from './store/feed-store.ts';
import type { ItemList } from './store/item-list.ts';
import type { ListOptions } from './store/list-store.ts';
import { pageKeyOf as notificationsKeyOf, type NotificationStore } from './store/notification-store.ts';
import type { Reader, ReaderOffline } from './store/reader.ts';
import { bookmarkWrite, interactionWrite } from './store/writes.ts';

export type { OfflineOptions, OfflineProblem, OfflineStore } from '@fanfare/client/offline';

/** For `offline` of the provider. Await it before the first render, and call `clear` when the reader signs out. */
export async function openOffline(
  options: OfflineOptions,
): Promise<ReaderOffline & Pick<Offline, 'clear' | 'close'>> {
  const offline = await openClientOffline(options);
  return {
    readerKey: offline.readerKey,
    pagesOf: ({ fields }) =>
      offline.lists
        .filter((list) => list.fields === JSON.stringify(fields))
        // Of these fields it is what the same package has kept.
        .map(({ key, page, language }) => ({ key, language, page: page as unknown as ListedPage })),
    client: (client: FeedClient<FanfareItem>) => offline.client(client),
    attach(reader) {
      // Each is kept at once, and sent when its turn has come.
      reader.actions.isOrdered = true;
      const confirmed = (item: FanfareItem): FanfareItem => ({
        ...item,
        action: reader.actions.confirmed(item.action.id) ?? item.action,
      });
      reader.onFeed = (feed) =>
        keepList(offline, reader, feed, pageKeyOf(feed.options), () => {
          const { unread, state, total } = feed.getSnapshot();
          const page = pageOf(feed, feed.options.live, confirmed);
          return page && { ...page, unread, state, ...(total && { total }) };
        });
      reader.onNotifications = (list) =>
        keepList(offline, reader, list, notificationsKeyOf(list.options), () => {
          const page = pageOf(list, list.options.live);
          return page && { ...page, ...list.counts };
        });
      // Where their events go on is not known: they are read again.
      reader.onThread = (thread, key) =>
        keepList(offline, reader, thread, key, () => thread.page && { ...thread.page, liveCursor: '' });
      reader.onPages = (key, pageOf) =>
        keeping(offline, reader, key, () => {
          const page = pageOf();
          return page && { ...page, liveCursor: '' };
        });
      for (const write of offline.writes) showWaiting(reader, write);
    },
    clear: offline.clear,
    close: offline.close,
  };
}

/** Keeps a list whenever it has changed. @param pageOf undefined: nothing that could go on from there */
function keepList(
  offline: Offline,
  reader: Reader,
  list: Pick<FeedStore | NotificationStore | CommentStore, 'subscribe'>,
  key: string,
  pageOf: () => KeptPage | undefined,
): void {
  list.subscribe(keeping(offline, reader, key, pageOf));
}

type KeptPage = KeptList['page'];

/** @returns to be called whenever it has changed */
function keeping(
  offline: Offline,
  { client }: Reader,
  key: string,
  pageOf: () => KeptPage | undefined,
): () => void {
  return offline.keeping(() => {
    const page = pageOf();
    const { fields, language } = client;
    return page && { key, page, language, fields: JSON.stringify(fields) };
  });
}

/** What is loaded of a list, as the server has confirmed it, with what waits in its place. */
function pageOf<Item extends { readonly id: string }>(
  { list, cursor: liveCursor }: { readonly list: ItemList<Item>; readonly cursor: string | undefined },
  live: ListOptions['live'],
  confirmed: (item: Item) => Item = (item) => item,
) {
  if (list.top !== undefined || liveCursor === undefined || live === 'off') return undefined;
  const held = new Map(list.held.map((entry) => [entry.item.id, entry]));
  const all = [...list.entries.filter(({ item }) => !held.has(item.id)), ...held.values()];
  if (held.size > 0)
    all.sort(({ place: a }, { place: b }) => (a === null || b === null || a === b ? 0 : a > b ? -1 : 1));
  const { hasNextPage, cursor: endCursor, lowerEdge } = list;
  // Where it ends with another item than its last page did, nothing is known between the two.
  const last = all.at(-1)?.place === lowerEdge ? (endCursor ?? '') : '';
  const edges = all.map(({ item }, at) => ({
    node: confirmed(item),
    cursor: at === all.length - 1 ? last : '',
  }));
  return { edges, pageInfo: { hasNextPage, endCursor }, liveCursor };
}

interface OfInput {
  readonly actionId: string;
  readonly kind: InteractionKind;
  readonly reaction?: string;
  readonly text?: string;
  readonly parentId?: string;
  readonly mentions?: readonly string[];
  readonly idempotencyKey?: string;
  readonly own?: Pick<OfInput, 'actionId' | 'kind' | 'reaction'>;
}

/** What an earlier page has left, as it was shown there. It rejects when it is given up, which the host is notified of. */
function showWaiting(reader: Reader, { name, variables, done }: WaitingWrite): void {
  const { actions } = reader;
  const { actionId = '', input } = variables as { readonly actionId?: string; readonly input?: OfInput };
  const settled = (shown: Promise<unknown>): void => void shown.catch(() => undefined);
  const sent = (): Promise<InteractionChange> => done as Promise<InteractionChange>;
  const interact = (
    { actionId: id, kind, reaction }: Pick<OfInput, 'actionId' | 'kind' | 'reaction'>,
    isGiven: boolean,
  ): void =>
    settled(
      actions.write(id, interactionWrite(kind, isGiven, reaction), async () => {
        actions.confirmState((await sent()).action);
      }),
    );
  if (name === 'addInteraction' && input?.kind === 'COMMENT') {
    const { text = '', parentId, mentions = [], idempotencyKey: key = '' } = input;
    settled(commentsOf(reader, input.actionId).take({ key, text, parentId, mentions, error: null }, sent));
  } else if (name === 'addInteraction' && input !== undefined) interact(input, true);
  else if (name === 'removeInteraction' && input?.own !== undefined) interact(input.own, false);
  else if (name === 'bookmark' || name === 'unbookmark')
    settled(actions.write(actionId, bookmarkWrite(name === 'bookmark'), () => done));
  else if (name === 'markFeedRead' || name === 'markItemsRead' || name === 'markItemsUnread') {
    const send = () => done as ReturnType<typeof reader.client.mutations.markFeedRead>;
    settled(reader.mark(markOf(name, variables), send));
  } else if (name === 'hideFeedItem' || name === 'archiveFeedItem' || name === 'snoozeFeedItem')
    settled(actions.write(actionId, { gone: 'feed' }, () => done));
}

function markOf(name: string, variables: WaitingWrite['variables']): ReadMark {
  const {
    upTo,
    view,
    actionIds = [],
  } = variables as {
    readonly upTo?: string;
    readonly view?: string;
    readonly actionIds?: readonly string[];
  };
  if (upTo !== undefined) return { upTo, view };
  // Whatever has happened to them until they were marked.
  return { items: new Map(actionIds.map((id) => [id, ['~', name === 'markItemsRead'] as const])) };
}
