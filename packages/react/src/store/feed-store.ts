import type { FeedClient, FeedEvent, FeedPage } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import type { Actions } from './actions.ts';
import { asError } from './as-error.ts';
import type { Connection, Subscriber } from './connection.ts';
import { FeedList } from './feed-list.ts';
import { EMPTY, type FeedOptions, type FeedSnapshotState, type ReadMark } from './feed-options.ts';
import { readAgain } from './read-again.ts';
import { ShownItems } from './shown-items.ts';
import { Signal, Usage } from './signal.ts';

interface FeedDependencies {
  readonly client: Pick<FeedClient<FanfareItem>, 'feed'>;
  readonly actions: Actions;
  readonly connection: Connection;
  readonly onEvent: (event: FeedEvent<FanfareItem>) => void;
  readonly page?: FeedPage<FanfareItem> | undefined;
}

/** One list of the reader: pages, events, what waits. It works while something subscribes to it. */
export class FeedStore extends Signal {
  readonly options: FeedOptions;
  readonly #with: FeedDependencies;
  readonly #list: FeedList;
  readonly #shown: ShownItems;
  readonly #usage: Usage;
  #snapshot: FeedSnapshotState = EMPTY;
  #serverSnapshot: FeedSnapshotState = EMPTY;
  readonly #subscriber: Subscriber;
  #isAtTop = false;
  #loading: Promise<void> | null = null;
  #refreshing: Promise<void> | null = null;
  #isRefreshQueued = false;
  #isApplying = false;
  #stop: (() => void) | null = null;
  #failed = (): Promise<void> => this.refresh();

  constructor(options: FeedOptions, dependencies: FeedDependencies) {
    super();
    this.options = options;
    this.#with = dependencies;
    this.#list = new FeedList(options.order ?? 'RELEVANCY');
    this.#shown = new ShownItems(dependencies.actions, options.filter);
    this.#subscriber = {
      filter: options.filter,
      cursor: undefined,
      onEvent: (event) => {
        this.#apply(event);
      },
      onResync: () => this.#refresh(),
    };
    this.#usage = new Usage(
      () => {
        this.#open();
      },
      () => {
        this.#stop?.();
        this.#stop = null;
      },
    );
    if (dependencies.page === undefined) return;
    this.#takePage(this.#list.expectRefresh(), dependencies.page, 0);
    this.#serverSnapshot = this.#snapshot;
  }

  readonly getSnapshot = (): FeedSnapshotState => this.#snapshot;
  readonly getServerSnapshot = (): FeedSnapshotState => this.#serverSnapshot;

  /** Subscribing makes it live. */
  readonly use = (listener: () => void): (() => void) => this.#usage.begin(this.subscribe(listener));

  /** At the top, and idle, the reader sees what is new at once. */
  readonly setAtTop = (isAtTop: boolean): void => {
    this.#isAtTop = isAtTop;
    if (isAtTop && this.#list.waiting > 0) this.showWaiting();
  };

  /** @returns the id of the first item that was not shown before */
  readonly showWaiting = (): string | null => {
    // Only the server can place what is new in the order TOP.
    if (this.options.order === 'TOP') void this.refresh();
    const first = this.#list.showWaiting();
    this.#publish();
    return first;
  };

  readonly loadMore = (): Promise<void> => {
    if (!this.#list.hasNextPage) return Promise.resolve();
    return (this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    }));
  };

  /** Loads pages until it shows this item. @returns whether it does */
  readonly loadUntil = async (id: string): Promise<boolean> => {
    const isShown = (): boolean => this.#snapshot.items.some((item) => item.id === id);
    while (!isShown() && this.#snapshot.hasNextPage) {
      await this.loadMore();
      if (this.#snapshot.error !== null) break;
    }
    return isShown();
  };

  /** Reads the list again behind what is shown. Asked for during a request, it comes after it. What fails is `error`. */
  readonly refresh = (): Promise<void> => this.#refresh().catch(() => undefined);

  /** Does again what failed last. */
  readonly retry = (): Promise<void> => this.#failed();

  #refresh(): Promise<void> {
    if (this.#refreshing !== null) {
      this.#isRefreshQueued = true;
      return this.#refreshing;
    }
    this.#refreshing = this.#refreshAll().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Shows a mark of the reader; a second call with the same takes it back. */
  toggleMark(mark: ReadMark): void {
    this.#shown.toggleMark(mark);
    this.#publish();
  }

  #open(): void {
    const { actions, connection } = this.#with;
    const leaveActions = actions.subscribe(() => {
      // What an event changes is shown once, when the list has it too.
      if (!this.#isApplying) this.#publish();
    });
    const { live = 'hold' } = this.options;
    let close: (() => void) | null = null;
    let isOver = false;
    const watch = (): void => {
      if (!isOver && live !== 'off') close = connection.open(this.#subscriber);
    };
    if (this.#subscriber.cursor !== undefined) watch();
    // Without a page the watch asks for one, as often as it takes.
    else void this.refresh().then(watch);
    this.#stop = () => {
      isOver = true;
      leaveActions();
      close?.();
    };
  }

  async #load(): Promise<void> {
    const take = this.#list.expectPage();
    const asked = this.#with.actions.now;
    this.#publish({ isLoadingMore: true });
    try {
      const after = this.#list.cursor;
      const page = await this.#read(after === null ? {} : { after });
      this.#confirm(page, asked);
      take(page);
      this.#publish({ isLoadingMore: false, error: null });
    } catch (error) {
      take(null);
      this.#failed = this.loadMore;
      this.#publish({ isLoadingMore: false, error: asError(error) });
    }
  }

  async #refreshAll(): Promise<void> {
    do {
      this.#isRefreshQueued = false;
      const take = this.#list.expectRefresh();
      const asked = this.#with.actions.now;
      const takeMarks = this.#shown.expectMarks();
      try {
        const page = await readAgain(
          (first, after) => this.#read(after === null ? { first } : { first, after }),
          this.options.first ?? 25,
          this.#list.entries.length,
          ({ node }) => this.#list.reaches(node),
        );
        takeMarks();
        this.#takePage(take, page, asked);
      } catch (error) {
        take(null, false);
        this.#failed = this.refresh;
        const status = this.#snapshot.status === 'loading' ? 'error' : this.#snapshot.status;
        this.#publish({ error: asError(error), status });
        throw error;
      }
    } while (this.#hasQueued());
  }

  /** Asked after every wait. */
  #hasQueued(): boolean {
    return this.#isRefreshQueued;
  }

  #read(query: { readonly first?: number; readonly after?: string }): Promise<FeedPage<FanfareItem>> {
    const { filter, order, first = 25, total = false } = this.options;
    return this.#with.client.feed({
      first,
      ...(total ? { total } : {}),
      ...(filter === undefined ? {} : { filter }),
      ...(order === undefined ? {} : { order }),
      ...query,
    });
  }

  #takePage(take: ReturnType<FeedList['expectRefresh']>, page: FeedPage<FanfareItem>, asked: number): void {
    this.#confirm(page, asked);
    take(page, this.#mustWait());
    this.#subscriber.cursor ??= page.liveCursor;
    const { unread, state, total = null } = page;
    this.#publish({ status: 'ready', error: null, unread, state, total });
  }

  #confirm({ edges }: FeedPage<FanfareItem>, asked: number): void {
    for (const { node } of edges) this.#with.actions.confirmRead(node.action, asked);
    this.#with.actions.emit();
  }

  #apply(event: FeedEvent<FanfareItem>): void {
    const { actions, onEvent } = this.#with;
    if (event.__typename === 'UnreadCountChanged') {
      // It counts the whole feed.
      if (JSON.stringify(this.options.filter ?? {}) === '{}') this.#publish({ unread: event.unread });
    } else {
      const isOwn = 'item' in event && actions.isOwnWrite(event.item.action);
      if ('item' in event) {
        this.#shown.settleMarks(event.item.action.id);
        actions.confirm(event.item.action);
        this.#isApplying = true;
        try {
          actions.emit();
        } finally {
          this.#isApplying = false;
        }
      } else actions.settleGone(event.actionId);
      this.#publish(this.#counted(this.#list.apply(event, this.#mustWait(), isOwn)));
      // Everything that was loaded is gone, and what follows may be too: only the server can tell.
      if (this.#snapshot.items.length === 0 && this.#list.hasNextPage) void this.refresh();
    }
    onEvent(event);
  }

  /** Where only the server can tell, and where a count is under way that may have it or not, the list is read again. */
  #counted(by: number | null): Partial<FeedSnapshotState> {
    const { total } = this.#snapshot;
    if (total?.isExact !== true || by === 0) return {};
    if (by === null || this.#refreshing !== null) void this.refresh();
    return { total: { count: total.count + (by ?? 0), isExact: true } };
  }

  #mustWait(): boolean {
    return this.options.live !== 'insert' && !this.#isAtTop;
  }

  #publish(change: Partial<FeedSnapshotState> = {}): void {
    const next = {
      ...this.#snapshot,
      ...change,
      items: this.#shown.of(this.#list.entries, this.#snapshot.items),
      hasNextPage: this.#list.hasNextPage,
      waiting: this.#list.waiting,
    };
    const keys = Object.keys(next) as (keyof FeedSnapshotState)[];
    if (keys.every((key) => next[key] === this.#snapshot[key])) return;
    this.#snapshot = next;
    this.emit();
  }
}
