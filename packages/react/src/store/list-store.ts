import { asError } from './as-error.ts';
import type { Connection, Subscriber } from './connection.ts';
import type { ItemEvent, ItemList, ItemPage } from './item-list.ts';
import { readAgain } from './read-again.ts';
import { Signal, Usage } from './signal.ts';

/** What every list of the reader shows. */
export interface ListState<Item> {
  readonly items: readonly Item[];
  /** `loading` only before the first page. */
  readonly status: 'loading' | 'ready' | 'error';
  /** Of the last page that was asked for. */
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isLoadingMore: boolean;
  /** Whether there is more above: only of a list that does not begin at the top. */
  readonly hasPreviousPage: boolean;
  readonly isLoadingPrevious: boolean;
  /** Items that wait to be shown. */
  readonly waiting: number;
}

export const EMPTY_LIST: ListState<never> = {
  ...{ items: [], status: 'loading', error: null, waiting: 0 },
  ...{ hasNextPage: false, isLoadingMore: false, hasPreviousPage: false, isLoadingPrevious: false },
};

/** How a list is read and watched. */
export interface ListOptions {
  /** Items of a page, 1..100; default 25. */
  readonly first?: number;
  /**
   * `hold` (default): what is new or bumped waits until the reader asks for it or is at the top. `insert`: it is shown at
   * once. `off`: nothing is watched.
   */
  readonly live?: 'hold' | 'insert' | 'off';
}

/** Which page: from where the list begins, so many; or the next one; or the one above. */
export interface PageQuery {
  readonly first?: number;
  readonly after?: string;
  readonly before?: string;
}

type Loading = 'isLoadingMore' | 'isLoadingPrevious';

interface Page<Item> extends ItemPage<Item> {
  readonly liveCursor: string;
}

/** One list of the reader: pages, events, what waits. It works while something subscribes to it. */
export abstract class ListStore<
  Item extends { readonly id: string },
  Of extends Page<Item>,
  State extends ListState<Item>,
> extends Signal {
  readonly list: ItemList<Item>;
  readonly #options: ListOptions;
  readonly #connection: Connection;
  readonly #subscriber: Subscriber;
  readonly #usage: Usage;
  readonly #again = (): void => {
    if (this.#snapshot.error !== null) void this.retry();
  };
  #snapshot: State;
  #serverSnapshot: State;
  #isAtTop = false;
  readonly #loading: Record<Loading, Promise<void> | null> = {
    ...{ isLoadingMore: null, isLoadingPrevious: null },
  };
  #refreshing: Promise<void> | null = null;
  #isRefreshQueued = false;
  #stop: (() => void) | null = null;
  #failed = (): Promise<void> => this.refresh();

  constructor(
    options: ListOptions,
    empty: State,
    list: ItemList<Item>,
    connection: Connection,
    watched: Pick<Subscriber, 'what' | 'of' | 'onEvent'>,
  ) {
    super();
    this.#options = options;
    this.#snapshot = this.#serverSnapshot = empty;
    this.list = list;
    this.#connection = connection;
    this.#subscriber = {
      ...watched,
      cursor: undefined,
      onResync: () => this.#refresh(),
      onLive: this.#again,
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
  }

  readonly getSnapshot = (): State => this.#snapshot;
  readonly getServerSnapshot = (): State => this.#serverSnapshot;

  /** Subscribing makes it live. */
  readonly use = (listener: () => void): (() => void) => this.#usage.begin(this.subscribe(listener));

  /** Whether it was shown, and nothing shows it any more. */
  get isLeft(): boolean {
    return this.#usage.isLeft;
  }

  /** At the top, and idle, the reader sees what is new at once. */
  readonly setAtTop = (isAtTop: boolean): void => {
    this.#isAtTop = isAtTop;
    if (isAtTop && this.list.waiting > 0 && this.list.top === undefined) this.showWaiting();
  };

  /** @returns the id of the first item that was not shown before */
  readonly showWaiting = (): string | null => {
    this.beforeShowing();
    const first = this.list.showWaiting();
    this.publish();
    return first;
  };

  readonly loadMore = (): Promise<void> => this.#load('isLoadingMore');
  /** The page above, of a list that does not begin at the top. */
  readonly loadPrevious = (): Promise<void> => this.#load('isLoadingPrevious');

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

  protected abstract read(query: PageQuery): Promise<Of>;
  /** What a page says beside its items. */
  protected abstract stateOf(page: Of): Partial<State>;
  /** What is shown of the list, with the reader's own writes. @returns `before`, when nothing of it has changed */
  protected abstract shownOf(before: readonly Item[]): readonly Item[];
  /**
   * Called before a page is asked for.
   * @param isAll whether it is the list from where it begins
   * @returns what is called with the page, before the list has it
   */
  protected abstract expect(isAll: boolean): (page: Of) => void;

  /** While it is used, what it returns ends. */
  protected open(): () => void {
    return () => undefined;
  }

  protected beforeShowing(): void {
    // Nothing has to be done for most lists.
  }

  protected get isRefreshing(): boolean {
    return this.#refreshing !== null;
  }

  /** Where its events go on; undefined: nothing was read yet. */
  get cursor(): string | undefined {
    return this.#subscriber.cursor;
  }

  /** A page that came with the HTML. */
  protected begin(page: Of): void {
    this.#takePage(this.list.expectRefresh(), page, this.expect(true));
    this.#serverSnapshot = this.#snapshot;
  }

  /** @returns how many more entries there are now; null: only the server knows */
  protected place(event: ItemEvent<Item>, stays = false): 1 | 0 | -1 | null {
    return this.list.apply(event, this.#mustWait(), stays);
  }

  protected publish(change: Partial<State> = {}): void {
    const last = this.#snapshot;
    const next = {
      ...last,
      ...change,
      items: this.shownOf(last.items),
      hasNextPage: this.list.hasNextPage,
      hasPreviousPage: this.list.top !== undefined,
      waiting: this.list.waiting,
    };
    const keys = Object.keys(next) as (keyof State)[];
    if (keys.every((key) => next[key] === last[key])) return;
    this.#snapshot = next;
    this.emit();
  }

  /** Call it after an event: everything that was loaded may be gone, and what follows too; only the server can tell. */
  protected refill(): void {
    if (this.#snapshot.items.length === 0 && this.list.hasNextPage) void this.refresh();
  }

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

  #open(): void {
    const leave = this.open();
    let close: (() => void) | null = null;
    let isOver = false;
    const watch = (): void => {
      if (!isOver && this.#options.live !== 'off') close = this.#connection.open(this.#subscriber);
    };
    if (this.#subscriber.cursor !== undefined) watch();
    // Without a page the watch asks for one, as often as it takes.
    else void this.refresh().then(watch);
    this.#stop = () => {
      isOver = true;
      leave();
      close?.();
    };
  }

  #load(which: Loading): Promise<void> {
    return (this.#loading[which] ??= this.#loadPage(which).finally(() => {
      this.#loading[which] = null;
    }));
  }

  async #loadPage(which: Loading): Promise<void> {
    const isUp = which === 'isLoadingPrevious';
    // One that is read again begins elsewhere then.
    if (isUp) await this.#refreshing?.catch(() => undefined);
    const { top, cursor, hasNextPage } = this.list;
    const below = cursor === null ? {} : { after: cursor };
    const query = isUp ? top && { before: top.before } : hasNextPage ? below : undefined;
    if (query === undefined) return;
    const take = this.list.expectPage(isUp);
    const confirm = this.expect(false);
    this.#say({ [which]: true });
    try {
      const page = await this.read(query);
      confirm(page);
      take(page);
      this.#say({ [which]: false, error: null });
    } catch (error) {
      take(null);
      this.#failed = () => this.#load(which);
      this.#say({ [which]: false, error: asError(error) });
    }
  }

  async #refreshAll(): Promise<void> {
    // What it brings belongs to the list, too.
    const { isLoadingPrevious } = this.#loading;
    if (isLoadingPrevious !== null) await isLoadingPrevious;
    do {
      this.#isRefreshQueued = false;
      const take = this.list.expectRefresh();
      const confirm = this.expect(true);
      try {
        const page = await readAgain(
          (first, after) => this.read(after === null ? { first } : { first, after }),
          this.#options.first ?? 25,
          this.list.entries.length,
          ({ node }) => this.list.reaches(node),
        );
        this.#takePage(take, page, confirm);
      } catch (error) {
        take(null, false);
        this.#failed = this.refresh;
        const status = this.#snapshot.status === 'loading' ? 'error' : this.#snapshot.status;
        this.#say({ error: asError(error), status });
        throw error;
      }
    } while (this.#hasQueued());
  }

  /** Asked after every wait. */
  #hasQueued(): boolean {
    return this.#isRefreshQueued;
  }

  #takePage(
    take: ReturnType<ItemList<Item>['expectRefresh']>,
    page: Of,
    confirm: ReturnType<typeof this.expect>,
  ): void {
    confirm(page);
    take(page, this.#mustWait());
    this.#subscriber.cursor ??= page.liveCursor;
    this.#say({ status: 'ready', error: null }, this.stateOf(page));
  }

  /** What every list has, in a type that a list has made more of. */
  #say(change: Partial<ListState<Item>>, more: Partial<State> = {}): void {
    this.publish({ ...(change as Partial<State>), ...more });
  }

  #mustWait(): boolean {
    return this.#options.live !== 'insert' && !(this.#isAtTop && this.list.top === undefined);
  }
}
