import type { FeedClient, FeedEvent, Notification } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import { Actions } from './actions.ts';
import type { CommentStore } from './comments.ts';
import { Connection, ownSource, type LiveSource } from './connection.ts';
import {
  keyOf,
  pageKeyOf,
  type FeedOptions,
  type FeedSnapshot,
  type ReadMark,
  type WhichList,
} from './feed-options.ts';
import { FeedStore } from './feed-store.ts';
import type { NotificationStore } from './notification-store.ts';
import { Undos } from './undos.ts';
import { UnreadStore } from './unread-store.ts';

export interface ReaderOptions {
  readonly client: FeedClient<FanfareItem>;
  readonly snapshots?: readonly FeedSnapshot[];
  readonly source?: LiveSource | undefined;
  readonly onError?: ((error: Error) => void) | undefined;
  readonly offline?: ReaderOffline | undefined;
}

/** What is kept in the browser for a reader. */
export interface ReaderOffline {
  /** Whose it is. */
  readonly readerKey: string;
  /** Nothing of it stays. */
  clear(): Promise<void>;
  /** Pages that were shown last, of a client with the same selection. */
  pagesOf(client: FeedClient<FanfareItem>): readonly FeedSnapshot[];
  /** The client with writes that wait. */
  client(client: FeedClient<FanfareItem>): FeedClient<FanfareItem>;
  /** Keeps its lists from now on, and shows the writes that wait. */
  attach(reader: Reader): void;
}

/** Lists that nothing shows any more and that are kept. */
const MOST_LEFT = 20;

export type FeedListener = (event: FeedEvent<FanfareItem>) => void;

/** All that one reader has open: outside React, so that components share it and rendering starts nothing. */
export class Reader {
  readonly client: FeedClient<FanfareItem>;
  readonly actions = new Actions();
  readonly connection: Connection;
  readonly unread: UnreadStore;
  readonly undos = new Undos();
  /** Told of each notification that is new, while a list of all of them is watched. */
  readonly notified = new Set<(notification: Notification) => void>();
  readonly feeds = new Map<string, FeedStore>();
  /** Notified of each list that is made. */
  onFeed: (feed: FeedStore) => void = () => undefined;
  onNotifications: (list: NotificationStore) => void = () => undefined;
  onThread: (thread: CommentStore, key: string) => void = () => undefined;
  /** @returns to be called whenever the pages that are shown have changed */
  onPages: (key: string, pages: () => object | undefined) => () => void = () => () => undefined;
  readonly #listeners = new Set<FeedListener>();
  readonly #snapshots: readonly FeedSnapshot[];

  constructor({ client: given, snapshots = [], source, onError, offline }: ReaderOptions) {
    const client = offline?.client(given) ?? given;
    this.client = client;
    // What came with the HTML is later than what is kept.
    this.#snapshots = [...snapshots, ...(offline?.pagesOf(client) ?? [])];
    this.connection = new Connection(source ?? ownSource(client), onError);
    this.unread = new UnreadStore(client, this.connection);
    offline?.attach(this);
  }

  /** Of the sentences that are shown. Undefined: not known, or what came with the HTML is in another one. */
  language(): string | undefined {
    const { language } = this.#snapshots[0] ?? this.client;
    return (this.client.language ?? language) === language ? language : undefined;
  }

  /** That came with the HTML, or was kept. */
  readonly keptPage = (key: string): FeedSnapshot['page'] | undefined =>
    this.#snapshots.find((snapshot) => snapshot.key === key)?.page;

  /** Equal options share a list. */
  feed(options: FeedOptions): FeedStore {
    const key = keyOf(options);
    const known = this.feeds.get(key);
    if (known !== undefined) return known;
    const store = new FeedStore(options, {
      client: this.client,
      actions: this.actions,
      connection: this.connection,
      onEvent: (event) => {
        for (const listener of this.#listeners) listener(event);
      },
      page: this.keptPage(pageKeyOf(options)),
    });
    // Those that were left are as they were when one comes back, but each text that was looked for has made one.
    const left = [...this.feeds].filter(([, feed]) => feed.isLeft);
    for (const [old] of left.slice(0, -MOST_LEFT)) this.feeds.delete(old);
    this.feeds.set(key, store);
    this.onFeed(store);
    return store;
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  async markAllRead(upTo: string, { view }: WhichList = {}): Promise<void> {
    await this.mark({ upTo, view }, () =>
      this.client.mutations.markFeedRead({ upTo, ...(view && { view }) }),
    );
    // Only the server knows what was marked as unread on its own, which stays so, and which views have a mark of their own.
    for (const feed of this.feeds.values()) void feed.refresh();
  }

  async markItems(marked: readonly FanfareItem[], isRead: boolean): Promise<void> {
    const items = new Map(marked.map(({ action, relevancy }) => [action.id, [relevancy, isRead] as const]));
    const send = this.client.mutations[`markItems${isRead ? 'Read' : 'Unread'}`];
    if (items.size > 0) await this.mark({ items }, () => send({ actionIds: [...items.keys()] }));
  }

  /** Shows a mark of the reader at once, and takes it back when it fails. */
  async mark(mark: ReadMark, send: () => ReturnType<FeedClient['mutations']['markFeedRead']>): Promise<void> {
    const feeds = [...this.feeds.values()].filter(
      ({ options }) => mark.items !== undefined || options.view === mark.view,
    );
    for (const feed of feeds) feed.toggleMark(mark);
    try {
      const { unreadCount } = await send();
      mark.isConfirmed = true;
      this.unread.set(unreadCount);
    } catch (error) {
      for (const feed of feeds) feed.toggleMark(mark);
      throw error;
    }
  }
}
