import type { FeedClient, FeedEvent } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import type { Actions } from './actions.ts';
import type { Connection } from './connection.ts';
import {
  EMPTY,
  type FeedOptions,
  type FeedSnapshotState,
  type ListedPage,
  type ReadMark,
} from './feed-options.ts';
import { readPage, startOf } from './feed-pages.ts';
import { ItemList } from './item-list.ts';
import { ListStore, type PageQuery } from './list-store.ts';
import { placeOf } from './order.ts';
import { ShownItems } from './shown-items.ts';

interface FeedDependencies {
  readonly client: Pick<FeedClient<FanfareItem>, 'feed' | 'request'>;
  readonly actions: Actions;
  readonly connection: Connection;
  readonly onEvent: (event: FeedEvent<FanfareItem>) => void;
  readonly page?: ListedPage | undefined;
}

/** One list of the reader's feed. */
export class FeedStore extends ListStore<FanfareItem, ListedPage, FeedSnapshotState> {
  readonly options: FeedOptions;
  readonly #with: FeedDependencies;
  readonly #shown: ShownItems;
  #isApplying = false;

  constructor(options: FeedOptions, dependencies: FeedDependencies) {
    const { view, listId, filter, order = 'RELEVANCY' } = options;
    super(options, EMPTY, new ItemList((item) => placeOf(item, order)), dependencies.connection, {
      ...{ what: 'watch', of: { filter, view, listId } },
      onEvent: (event: FeedEvent<FanfareItem>) => {
        this.#apply(event);
      },
    });
    this.options = options;
    this.#with = dependencies;
    this.#shown = new ShownItems(dependencies.actions, filter);
    if (dependencies.page !== undefined) this.begin(dependencies.page);
  }

  /** Shows a mark of the reader; a second call with the same takes it back. */
  toggleMark(mark: ReadMark): void {
    this.#shown.toggleMark(mark);
    this.publish();
  }

  protected override open(): () => void {
    return this.#with.actions.subscribe(() => {
      // What an event changes is shown once, when the list has it too.
      if (!this.#isApplying) this.publish();
    });
  }

  protected override async read(query: PageQuery): Promise<ListedPage> {
    const { client } = this.#with;
    const isFirst = query.after === undefined && query.before === undefined;
    const isLoaded = this.getSnapshot().status === 'ready';
    const start = isLoaded ? this.list.top?.after : isFirst ? await startOf(client, this.options) : undefined;
    return readPage(client, this.options, query, start);
  }

  protected override stateOf(page: ListedPage): Partial<FeedSnapshotState> {
    return { unread: page.unread, state: page.state, total: page.total ?? null };
  }

  protected override shownOf(before: readonly FanfareItem[]): readonly FanfareItem[] {
    return this.#shown.of(this.list.entries, before);
  }

  protected override expect(isAll: boolean): (page: ListedPage) => void {
    const { actions } = this.#with;
    const asked = actions.now;
    const takeMarks = isAll ? this.#shown.expectMarks() : undefined;
    return ({ edges }) => {
      takeMarks?.();
      for (const { node } of edges) actions.confirmRead(node.action, asked);
      actions.emit();
    };
  }

  protected override beforeShowing(): void {
    // Only the server can place what is new in the order TOP.
    if (this.options.order === 'TOP') void this.refresh();
  }

  #apply(event: FeedEvent<FanfareItem>): void {
    const { actions, onEvent } = this.#with;
    if (event.__typename === 'UnreadCountChanged') {
      // It counts the whole feed or view.
      if (JSON.stringify(this.options.filter ?? {}) === '{}') this.publish({ unread: event.unread });
    } else if ('item' in event) {
      const { item } = event;
      const isOwn = actions.isOwnWrite(item.action);
      this.#shown.settleMarks(item.action.id);
      actions.confirm(item.action);
      this.#isApplying = true;
      try {
        actions.emit();
      } finally {
        this.#isApplying = false;
      }
      this.#count(this.place({ item, isNew: event.__typename === 'FeedItemAdded' }, isOwn));
    } else {
      actions.settleGone(event.actionId);
      this.#count(this.place({ itemId: event.itemId }));
    }
    onEvent(event);
  }

  /** Where only the server can tell, and where a count is under way that may have it or not, the list is read again. */
  #count(by: number | null): void {
    const { total } = this.getSnapshot();
    const isCounted = total?.isExact === true && by !== 0;
    if (isCounted && (by === null || this.isRefreshing)) void this.refresh();
    this.publish(isCounted ? { total: { count: total.count + (by ?? 0), isExact: true } } : {});
    this.refill();
  }
}
