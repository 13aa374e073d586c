import { z } from 'zod';
import type { FeedOrder, ListOrder, Page, PageArgs } from '../../core/shapes.ts';
import type { DeclarationFault } from '../../descriptors/check.ts';
import type { DeclaredView } from '../../descriptors/host-views.ts';
import type { UserId } from '../../domain/action.ts';
import type { ListedState } from '../../domain/item-states.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { WantedActions } from '../../storage/actions/action-document.ts';
import type { Stretch } from '../../storage/documents/keyset.ts';
import type { Extent } from '../extent.ts';
import type { AheadTimes, FeedReads } from '../feed-reader.ts';
import type { FeedQuery } from '../feed-store.ts';
import type { ConductedEntry, ConductedPosition } from '../source.ts';
import type { Load } from '../session/load.ts';
import type { ListRead } from './list-read.ts';
import type { AskedPage } from './paging.ts';

/**
 * A filter of feeds: a condition on their items that a client can ask for. Inputs and their checks, pages, counts, groups and live
 * events go by these rows: a further filter is a further row, declared in its feature and listed in `app/features.ts`.
 */
export interface FeedFilterRow<V> {
  /** Its name in `FeedFilter`. */
  readonly name: string;
  readonly input: 'FLAG' | 'ID' | 'IDS' | 'TEXT' | 'REASONS' | 'TIME' | 'EXCLUSION';
  readonly description: string;
  /** `null`: the filter is not asked for. */
  readonly check: z.ZodType<V | null>;
  /** Loads that the filter needs of each item, by the id of its action. */
  readonly needs?: readonly Load<unknown>[];
  readonly passes: (item: NewsfeedItem, value: V, known: KnownOfItem) => boolean;
  /** The same for the database, as far as it depends on actions alone. */
  readonly conditions?: (value: V) => WantedActions;
  /** The conditions that its value stands for, instead of one of its own. */
  readonly stands?: (value: V) => readonly AskedFilter[];
  /**
   * When an item that does not pass may have passed before: never, before an edit of its action, before it moved, or before any change
   * that watchers are notified of.
   */
  readonly mayHavePassed: 'NEVER' | 'BEFORE_AN_EDIT' | 'BEFORE_IT_MOVED' | 'BEFORE_A_CHANGE';
  /** Items in this state instead of the feed. */
  readonly state?: ListedState;
  /**
   * All entries of the feed that can pass, in feed order: where few of many do, no others are looked at. Default: all entries of the
   * feed are looked at.
   */
  readonly entries?: (read: ListRead, reader: ReaderProfile) => Promise<readonly FeedEntry[]>;
  /** Entries among which it looks, the first of the list. Counts are not exact if there are more. Default: all. */
  readonly most?: number;
}

/** A filter that is asked for. */
export interface AskedFilter {
  readonly row: Pick<FeedFilterRow<unknown>, 'name' | 'passes' | 'mayHavePassed'> &
    Partial<FeedFilterRow<unknown>>;
  readonly value: unknown;
}

/** A list beside the feed, of the host's configuration or the reader's own: its items are those of the feed that pass its filter. */
export interface FeedView extends Omit<DeclaredView, 'order'> {
  /** `null`: whichever is asked for. */
  readonly order: ListOrder | null;
  /** The list of the reader that it shows; absent: the configuration has it. */
  readonly listId?: string;
}

/** The facts that decide a filter beside the item. */
export interface KnownOfItem {
  readonly order: ListOrder;
  /** The value that a load of the row's `needs` has found for the item; `null`: none. */
  readonly loaded: <T>(load: Load<T>) => T | null;
}

/** Input of a page, whatever its order. */
export interface OrderedPage {
  readonly userId: UserId;
  /** The view whose page it is; `null`: it is of the feed. */
  readonly view: FeedView | null;
  /** The reader as the list decides by them. */
  readonly lookUp: () => Promise<ReaderProfile>;
  /** Tells its cursors from those of other lists in the same order. */
  readonly list: string;
  /** Cursors are those of the order. */
  readonly args: PageArgs;
  readonly scan: (stretch: Stretch<FeedPosition>) => Promise<readonly FeedEntry[]>;
  readonly select: (candidates: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
  /** The next entries, the newest actions first, within the extent. Absent: only `scan` has them. */
  readonly scanConducted?:
    | ((stretch: Stretch<ConductedPosition>) => Promise<readonly ConductedEntry[]>)
    | undefined;
  /** Entries of what was conducted ahead of the clock, as `FeedReader.ahead`. Absent as `scanConducted`. */
  readonly scanAhead?: ((times: AheadTimes) => Promise<readonly FeedEntry[] | null>) | undefined;
  /** Whether `scan` gives every entry: no filter leaves out any before they are looked at. */
  readonly isUnfiltered: () => Promise<boolean>;
  /** Where the scans stop, before the list ends. Absent: nowhere. */
  readonly extent: Extent | undefined;
  /** The page. From the top it is made once of equal reads. @param limit of its first scan */
  readonly first: (
    page: AskedPage<unknown>,
    what: string,
    limit: number,
    make: () => Promise<Page<NewsfeedItem>>,
  ) => Promise<Page<NewsfeedItem>>;
}

/**
 * An order of feeds. The API, its costs, pages and the times of filters go by these rows: a further order is a further row, declared
 * in its feature and listed in `app/features.ts`.
 */
export interface FeedOrderRow {
  readonly name: ListOrder;
  readonly description: string;
  /** Only views of the configuration have it: gives what is wrong with one of them, by places below `order`. */
  readonly ofViews?: (view: DeclaredView) => readonly DeclarationFault[];
  /** Entries that every page reads, however short it is. Default: as many as it shows. */
  readonly reads?: number;
  /** A page can begin where another stopped: none has to look at all entries above it. Default: no. */
  readonly goesOn?: boolean;
  /** The time that `since` and `until` of a filter refer to. */
  readonly timeOf: (item: NewsfeedItem) => Date;
  /** The relevancies of all items that times let through. */
  readonly range: (times: TimeRange) => TimeRange;
  /** The times at which their actions were conducted. Default: any. */
  readonly conductedRange?: (times: TimeRange) => TimeRange;
  /** @throws FanfareError BAD_USER_INPUT, BAD_CURSOR */
  readonly read: (core: FeedReads, page: OrderedPage) => Promise<Page<NewsfeedItem>>;
  /** The score that places an item; `null`: it is too old to have one. Absent: items are placed by a time of theirs. */
  readonly explain?: (
    core: FeedReads,
    item: NewsfeedItem,
    of: { readonly reader: ReaderProfile; readonly view: FeedView | null },
  ) => Promise<ScoreExplanation | null>;
}

/** The score of an item, and what it was computed from. */
export interface ScoreExplanation {
  readonly score: number | null;
  readonly vars: Readonly<Record<string, unknown>>;
}

export type TimeRange = Pick<FeedQuery, 'since' | 'until'>;

/** The rows that features declare of the feed, by name, in the order in which they were declared. */
class DeclaredRows {
  readonly filters = new Map<string, FeedFilterRow<unknown>>();
  readonly orders = new Map<string, FeedOrderRow>();
  #filterSchema: z.ZodType<object> | undefined;

  addFilters(rows: readonly FeedFilterRow<unknown>[]): void {
    for (const row of rows) add(this.filters, row);
    this.#filterSchema = undefined;
  }

  addOrders(rows: readonly FeedOrderRow[]): void {
    for (const row of rows) add(this.orders, row);
  }

  order(name: string): FeedOrderRow {
    const row = this.orders.get(name);
    if (row === undefined) throw new Error(`No feature has declared the order ${name}`);
    return row;
  }

  /** Those that a client can ask for. */
  get offeredOrders(): readonly (FeedOrderRow & { readonly name: FeedOrder })[] {
    return [...this.orders.values()].filter(isOffered);
  }

  get filterSchema(): z.ZodType<object> {
    return (this.#filterSchema ??= this.#makeFilterSchema());
  }

  #makeFilterSchema(): z.ZodType<object> {
    const shape = Object.fromEntries(Array.from(this.filters, ([name, { check }]) => [name, check]));
    const lists = [...this.filters.values()].filter(({ state }) => state !== undefined);
    return z.strictObject(shape).superRefine((filter, context) => {
      const [one, other] = lists.filter(({ name }) => filter[name] !== null);
      if (one === undefined || other === undefined) return;
      const message = `An item cannot be both ${one.name} and ${other.name}: use one of these filters`;
      context.addIssue({ code: 'custom', path: [other.name], message });
    });
  }
}

function isOffered(row: FeedOrderRow): row is FeedOrderRow & { readonly name: FeedOrder } {
  return row.ofViews === undefined;
}

function add<R extends { readonly name: string }>(rows: Map<string, R>, row: R): void {
  if (rows.has(row.name)) throw new Error(`Two filters or orders of feeds are called ${row.name}`);
  rows.set(row.name, row);
}

export const DECLARED = new DeclaredRows();
