import type { FeedClient, FeedEvent, InteractionKind, MuteTarget, Notification } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import { Actions, type Gone } from './actions.ts';
import { Answers } from './answers.ts';
import { Connection, ownSource, type LiveSource } from './connection.ts';
import { keyOf, pageKeyOf, type FeedOptions, type FeedSnapshot, type ReadMark } from './feed-options.ts';
import { FeedStore } from './feed-store.ts';
import type { NotificationStore } from './notification-store.ts';
import { PageLife } from './page-life.ts';
import { mute, setBlock, unmute } from './standings.ts';
import { Undos } from './undos.ts';
import { UnreadStore } from './unread-store.ts';
import { bookmarkWrite, interactionWrite } from './writes.ts';

export interface ReaderOptions {
  readonly client: FeedClient<FanfareItem>;
  readonly snapshots?: readonly FeedSnapshot[];
  readonly source?: LiveSource | undefined;
  readonly pauseHiddenAfterMs?: number | undefined;
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

/** What a reader can do with an item of a list, and what takes it back. */
const REMOVALS = {
  hide: { gone: 'feed', do: 'hideFeedItem', undo: 'unhideFeedItem' },
  archive: { gone: 'feed', do: 'archiveFeedItem', undo: 'unarchiveFeedItem' },
  unarchive: { gone: 'archived', do: 'unarchiveFeedItem', undo: 'archiveFeedItem' },
} as const satisfies Record<string, { readonly gone: Gone; readonly do: string; readonly undo: string }>;

/** All that one reader has open: outside React, so that components share it and rendering starts nothing. */
export class Reader {
  readonly client: FeedClient<FanfareItem>;
  readonly actions = new Actions();
  readonly connection: Connection;
  readonly unread: UnreadStore;
  readonly answers: Answers;
  readonly undos = new Undos();
  /** Told of each notification that is new, while a list of all of them is watched. */
  readonly notified = new Set<(notification: Notification) => void>();
  readonly life: PageLife;
  readonly feeds = new Map<string, FeedStore>();
  /** Notified of each list that is made. */
  onFeed: (feed: FeedStore) => void = () => undefined;
  onNotifications: (list: NotificationStore) => void = () => undefined;
  readonly #listeners = new Set<FeedListener>();
  readonly #snapshots: readonly FeedSnapshot[];

  constructor({
    client: given,
    snapshots = [],
    source,
    pauseHiddenAfterMs,
    onError,
    offline,
  }: ReaderOptions) {
    const client = offline?.client(given) ?? given;
    this.client = client;
    // What came with the HTML is later than what is kept.
    this.#snapshots = [...snapshots, ...(offline?.pagesOf(client) ?? [])];
    this.connection = new Connection(source ?? ownSource(client), onError);
    this.unread = new UnreadStore(client, this.connection);
    this.answers = new Answers(client);
    this.life = new PageLife(this.connection, pauseHiddenAfterMs ?? 30_000);
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

  /** A like, reshare or reaction, given or taken back. */
  async interact(
    actionId: string,
    kind: InteractionKind,
    isGiven: boolean,
    reaction?: string,
  ): Promise<void> {
    const { addInteraction, removeInteraction } = this.client.mutations;
    const of = { actionId, kind, ...(reaction && { reaction }) };
    await this.actions.write(actionId, interactionWrite(kind, isGiven, reaction), async () => {
      const { action } = await (isGiven
        ? addInteraction({ input: of })
        : removeInteraction({ input: { own: of } }));
      this.actions.confirmState(action);
    });
  }

  async bookmark(actionId: string, isBookmarked: boolean): Promise<void> {
    const { bookmark, unbookmark } = this.client.mutations;
    await this.actions.write(actionId, bookmarkWrite(isBookmarked), async () => {
      this.actions.confirmState(await (isBookmarked ? bookmark : unbookmark)({ actionId }));
    });
  }

  /** Takes an item out of its list. @returns what takes that back */
  async remove(item: FanfareItem, how: keyof typeof REMOVALS): Promise<() => Promise<void>> {
    const { gone, do: name, undo } = REMOVALS[how];
    const { mutations } = this.client;
    const actionId = item.action.id;
    const send: (of: { readonly actionId: string }) => Promise<unknown> = mutations[name];
    return this.#takeOut(
      actionId,
      () => send({ actionId }),
      () => mutations[undo]({ actionId }),
      gone,
    );
  }

  /** The item goes at once; what else is muted with it goes when the server says so. @returns what takes that back */
  mute({ action }: FanfareItem, target: MuteTarget, until?: Date): Promise<() => Promise<void>> {
    return this.#takeOut(
      action.id,
      () => mute(this, target, until),
      () => unmute(this, target),
    );
  }

  /** Whom the item is by. @returns what takes that back */
  block({ action }: FanfareItem): Promise<() => Promise<void>> {
    const { memberId } = action.actor;
    return this.#takeOut(
      action.id,
      () => setBlock(this, memberId, true),
      () => setBlock(this, memberId, false),
    );
  }

  async #takeOut(
    actionId: string,
    send: () => Promise<unknown>,
    undo: () => Promise<unknown>,
    gone: Gone = 'feed',
  ): Promise<() => Promise<void>> {
    await this.actions.write(actionId, { gone }, send);
    return () => this.#bringBack(actionId, undo);
  }

  /** Shows an action in the feed again that was hidden from it. */
  async unhide(actionId: string): Promise<void> {
    await this.#bringBack(actionId, () => this.client.mutations.unhideFeedItem({ actionId }));
  }

  /** Out of the list until then. @returns what takes that back */
  async snooze(item: FanfareItem, until: string): Promise<() => Promise<void>> {
    const { snoozeFeedItem, unsnoozeFeedItem } = this.client.mutations;
    const actionId = item.action.id;
    return this.#takeOut(
      actionId,
      () => snoozeFeedItem({ actionId, until }),
      () => unsnoozeFeedItem({ actionId }),
    );
  }

  async deleteAction(actionId: string): Promise<void> {
    await this.actions.write(actionId, { gone: 'everywhere' }, () =>
      this.client.mutations.deleteAction({ id: actionId }),
    );
  }

  async markAllRead(upTo: string): Promise<void> {
    await this.mark({ upTo }, () => this.client.mutations.markFeedRead({ upTo }));
    // What was marked as unread on its own stays so; only the server knows which it is.
    for (const feed of this.feeds.values()) void feed.refresh();
  }

  async markItems(marked: readonly FanfareItem[], isRead: boolean): Promise<void> {
    const items = new Map(marked.map(({ action, relevancy }) => [action.id, [relevancy, isRead] as const]));
    const send = this.client.mutations[`markItems${isRead ? 'Read' : 'Unread'}`];
    if (items.size > 0) await this.mark({ items }, () => send({ actionIds: [...items.keys()] }));
  }

  async #bringBack(actionId: string, send: () => Promise<unknown>): Promise<void> {
    await this.actions.write(actionId, {}, async () => {
      await send();
      this.actions.bringBack(actionId);
    });
    // Where nothing is watched no event brings it.
    for (const feed of this.feeds.values()) if (feed.options.live === 'off') void feed.refresh();
  }

  /** Shows a mark of the reader at once, and takes it back when it fails. */
  async mark(mark: ReadMark, send: () => ReturnType<FeedClient['mutations']['markFeedRead']>): Promise<void> {
    const feeds = [...this.feeds.values()];
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
