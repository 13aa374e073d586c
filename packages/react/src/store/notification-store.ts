import type {
  FeedClient,
  Instant,
  Notification,
  NotificationCounts,
  NotificationEvent,
  NotificationFilter,
  NotificationPage,
} from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import type { Connection } from './connection.ts';
import { ItemList } from './item-list.ts';
import { kept } from './kept.ts';
import { EMPTY_LIST, ListStore, type ListOptions, type ListState, type PageQuery } from './list-store.ts';

export interface NotificationOptions extends ListOptions {
  readonly filter?: NotificationFilter;
}

export interface NotificationState extends ListState<Notification> {
  /** How many have an event that the reader has not seen. Exact to 100. */
  readonly unseen: NotificationCounts['unseen'];
  /** How many the reader has not read. Exact to 100. */
  readonly unread: NotificationCounts['unread'];
}

/** A mark of the reader, shown until the list was read again after it was confirmed. A later event makes it unseen and unread. */
interface Mark {
  /** Everything up to then. */
  readonly seen?: Instant;
  readonly read?: Instant;
  /** Single ones, each with its time when it was marked. */
  readonly ids?: ReadonlyMap<string, Instant>;
  isConfirmed?: true;
}

interface Uses {
  readonly client: FeedClient<FanfareItem>;
  readonly connection: Connection;
  readonly notified?: ReadonlySet<(notification: Notification) => void>;
  /** A page that was kept with this key. */
  readonly keptPage?: (key: string) => object | undefined;
  /** Notified of each list that is made. */
  readonly onNotifications?: (list: NotificationStore) => void;
}

const NONE = { count: 0, isExact: true };
const EMPTY: NotificationState = { ...EMPTY_LIST, unseen: NONE, unread: NONE };

/** A list of the reader's notifications, and the reader's marks on it. */
export class NotificationStore extends ListStore<Notification, NotificationPage, NotificationState> {
  readonly options: NotificationOptions;
  readonly #client: FeedClient<FanfareItem>;
  /** As the server has them. */
  #counts: NotificationCounts = { unseen: NONE, unread: NONE };
  #marks: readonly Mark[] = [];

  constructor(options: NotificationOptions, { client, connection, notified, keptPage }: Uses) {
    super(options, EMPTY, new ItemList(({ at }) => at), connection, {
      ...{ what: 'watchNotifications', of: { filter: options.filter } },
      onEvent: (event: NotificationEvent) => {
        this.#apply(event);
        // Of lists of some kinds alone it would come twice.
        if (event.__typename === 'NotificationAdded' && this.#isAll)
          for (const listener of notified ?? []) listener(event.notification);
      },
    });
    this.options = options;
    this.#client = client;
    // Of these fields it is what the same package has kept.
    const page = keptPage?.(pageKeyOf(options)) as NotificationPage | undefined;
    if (page !== undefined) this.begin(page);
  }

  /** As the server has them. */
  get counts(): NotificationCounts {
    return this.#counts;
  }

  /** All that is shown, and all below it. */
  readonly markSeen = async (): Promise<void> => {
    const seen = this.#newest();
    const { markNotificationsSeen } = this.#client.mutations;
    const { items, unseen } = this.getSnapshot();
    // What has just come may be here before the counts know of it.
    if (seen !== undefined && (unseen.count > 0 || items.some(({ isSeen }) => !isSeen)))
      await this.#mark({ seen }, () => markNotificationsSeen({ upTo: seen }));
  };

  readonly markRead = async (notifications: readonly Notification[]): Promise<void> => {
    const ids = new Map(notifications.filter(({ isRead }) => !isRead).map(({ id, at }) => [id, at]));
    const { markNotificationsRead } = this.#client.mutations;
    if (ids.size > 0) await this.#mark({ ids }, () => markNotificationsRead({ ids: [...ids.keys()] }));
  };

  /** All that is shown, and all below it; what waits stays unread. */
  readonly markAllRead = async (): Promise<void> => {
    const read = this.#newest();
    const { markNotificationsRead } = this.#client.mutations;
    if (read !== undefined) await this.#mark({ read }, () => markNotificationsRead({ upTo: read }));
  };

  protected override read(query: PageQuery): Promise<NotificationPage> {
    const { filter, first = 25 } = this.options;
    return this.#client.notifications({ first, ...(filter && { filter }), ...query });
  }

  protected override stateOf({ unseen, unread }: NotificationPage): Partial<NotificationState> {
    return { unseen, unread };
  }

  protected override shownOf(before: readonly Notification[]): readonly Notification[] {
    const items = this.list.entries.map((entry) => {
      const { id, at } = entry.item;
      const isMarked = (until: (mark: Mark) => Instant | undefined): boolean =>
        this.#marks.some((mark) => at <= (until(mark) ?? ''));
      const isSeen = entry.item.isSeen || isMarked(({ seen }) => seen);
      const isRead = entry.item.isRead || isMarked(({ read }) => read) || isMarked(({ ids }) => ids?.get(id));
      if (entry.shown?.isSeen === isSeen && entry.shown.isRead === isRead) return entry.shown;
      return (entry.shown = { ...entry.item, isSeen, isRead });
    });
    return items.length === before.length && items.every((item, n) => item === before[n]) ? before : items;
  }

  protected override expect(isAll: boolean): () => void {
    const settled = isAll ? this.#marks.filter(({ isConfirmed }) => isConfirmed) : [];
    return () => {
      this.#marks = this.#marks.filter((mark) => !settled.includes(mark));
    };
  }

  protected override publish(change: Partial<NotificationState> = {}): void {
    const { unseen = this.#counts.unseen, unread = this.#counts.unread } = change;
    this.#counts = { unseen, unread };
    super.publish({ ...change, ...this.#shownCounts() });
  }

  /** What a mark covers has no other numbers than those of what is above it, all of which is loaded. */
  #shownCounts(): NotificationCounts {
    const items = this.shownOf(this.getSnapshot().items);
    const above = (isDone: (item: Notification) => boolean): NotificationCounts['unseen'] => ({
      count: items.filter((item) => !isDone(item) && !this.list.waits(item.id)).length + this.list.waiting,
      isExact: true,
    });
    const { unseen, unread } = this.#counts;
    const marked = this.list.entries.filter(
      ({ item, shown }) => !item.isRead && shown?.isRead === true,
    ).length;
    const single = unread.isExact ? { count: Math.max(0, unread.count - marked), isExact: true } : unread;
    return {
      unseen: this.#marks.some(({ seen }) => seen !== undefined) ? above(({ isSeen }) => isSeen) : unseen,
      unread: this.#marks.some(({ read }) => read !== undefined) ? above(({ isRead }) => isRead) : single,
    };
  }

  get #isAll(): boolean {
    return JSON.stringify(this.options.filter ?? {}) === '{}';
  }

  #newest(): Instant | undefined {
    return this.getSnapshot().items[0]?.at;
  }

  async #mark(mark: Mark, send: () => Promise<unknown>): Promise<void> {
    this.#marks = [...this.#marks, mark];
    this.publish();
    try {
      await send();
      mark.isConfirmed = true;
    } catch (error) {
      this.#marks = this.#marks.filter((other) => other !== mark);
      this.publish();
      throw error;
    }
    // Where nothing is watched nothing says that the list is another one now.
    if (this.options.live === 'off') void this.refresh();
  }

  #apply(event: NotificationEvent): void {
    if (event.__typename === 'NotificationCountsChanged') {
      // They are of the whole list.
      if (this.#isAll) this.publish(countsOf(event));
      return;
    }
    if ('notification' in event)
      this.place({ item: event.notification, isNew: event.__typename === 'NotificationAdded' });
    else this.place({ itemId: event.notificationId });
    this.publish();
    this.refill();
  }
}

function countsOf({ unseen, unread }: NotificationCounts): NotificationCounts {
  return { unseen, unread };
}

const stores = kept<NotificationStore>();

/** Equal options share a list. */
export function notificationsOf(uses: Uses, options: NotificationOptions): NotificationStore {
  return stores(uses.connection, keyOf(options), () => {
    const store = new NotificationStore(options, uses);
    uses.onNotifications?.(store);
    return store;
  });
}

/** Names its page among those of all lists. */
export const pageKeyOf = (options: NotificationOptions): string => `notifications ${keyOf(options)}`;

/** Equal options have equal keys, however they are written down. */
export function keyOf({ filter = {}, first = 25, live = 'hold' }: NotificationOptions): string {
  const { kinds = [], unreadOnly = false, since = '', until = '' } = filter;
  return JSON.stringify([kinds, unreadOnly, since, until, first, live]);
}
