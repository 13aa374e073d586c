import type { FeedFilter } from '../../core/shapes.ts';
import { inputBeside } from '../../core/stored-input.ts';
import { pathOf, type DeclarationFault } from '../../descriptors/check.ts';
import { HostConfigError } from '../../descriptors/host-config.ts';
import type { DeclaredView } from '../../descriptors/host-views.ts';
import { declaredViews, descriptorSource } from '../../descriptors/registry.ts';
import type { UserId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { type AskedFilter, DECLARED, type FeedView } from './declared.ts';
import { checkFeedFilter, type CheckedFeedFilter } from './filters.ts';
import { offeredRow } from './offered.ts';

/** In the order of the configuration. Their filters and orders were checked at the start. */
export function feedViews(): readonly FeedView[] {
  return declaredViews() as readonly FeedView[];
}

/** Checks what of views goes by the rows of feeds. @throws HostConfigError with every fault */
export function checkViews(views: readonly DeclaredView[] = declaredViews()): void {
  const faults = views.flatMap((view) => [...filterFaults(view), ...orderFaults(view)]);
  if (faults.length > 0) throw new HostConfigError(faults, descriptorSource());
}

function filterFaults({ name, filter }: DeclaredView): readonly DeclarationFault[] {
  const { error } = DECLARED.filterSchema.safeParse(filter);
  return (error?.issues ?? []).map(({ path, message }) => ({
    path: pathOf(`views.${name}.filter`, path),
    message,
  }));
}

function orderFaults(view: DeclaredView): readonly DeclarationFault[] {
  const { name, order } = view;
  const row = DECLARED.orders.get(order);
  if (row?.ofViews !== undefined) return row.ofViews(view);
  if (row !== undefined) return [];
  const known = DECLARED.offeredOrders.map((offered) => offered.name).join(', ');
  const message = `Unknown order ${JSON.stringify(order)}; known are ${known} and { rank }`;
  return [{ path: `views.${name}.order`, message }];
}

/** What a client asks for of a reader's items. */
export interface AskedList {
  /** The name of a view; absent or `null`: the feed. */
  readonly view?: string | null | undefined;
  /** Id of a list of the reader; absent or `null`: the feed. Not beside a view. */
  readonly listId?: string | null | undefined;
  /** Only items that pass it, of the view or the feed. */
  readonly filter?: FeedFilter | null | undefined;
}

/** @throws FanfareError BAD_USER_INPUT, also for an unknown view */
export function checkAskedList(userId: UserId, { filter, ...asked }: AskedList): CheckedFeedFilter {
  const narrowed = checkFeedFilter(filter);
  const view = viewAsked(asked);
  return view === null ? narrowed : itemsOf(userId, view, narrowed);
}

/** @throws FanfareError BAD_USER_INPUT */
export function viewAsked({ view, listId }: Omit<AskedList, 'filter'>): FeedView | null {
  if (listId == null) return view == null ? null : viewNamed(view);
  if (view == null) return viewOfList(listId);
  throw badInput('A feed is of a view or of a list: give one of them', ['listId']);
}

/** What a list of the reader shows. Whether there is such a list is known with the reader. */
export function viewOfList(listId: string): FeedView {
  return {
    // No view of the configuration has such a name.
    ...{
      name: `list ${listId}`,
      listId,
      label: new Map(),
      filter: {},
      order: null,
      ...{ rank: null, source: null },
      windowMs: null,
    },
    ...{ isGrouped: false, isCounted: true, hasOwnReadMark: false },
  };
}

/** Items of a view that pass a further filter. */
export function itemsOf(userId: UserId, view: FeedView, narrowed = checkFeedFilter(null)): CheckedFeedFilter {
  const own = ownFilter(userId, view);
  if (own.state !== null && narrowed.state !== null && own.state !== narrowed.state)
    throw badInput(`All items of the view ${view.name} are in another state`, ['filter']);
  const begin = view.windowMs === null ? null : beginOf(view.windowMs);
  const window = view.windowMs === null ? [] : [{ row: WINDOW, value: view.windowMs }];
  const list = view.listId === undefined ? [] : [{ row: LIST, value: view.listId }];
  const source = view.source === null ? [] : [{ row: offeredRow(view), value: view.name }];
  return {
    view,
    key: JSON.stringify([view.name, begin?.getTime() ?? null, narrowed.key]),
    asked: [...source, ...own.asked, ...window, ...list, ...narrowed.asked],
    since: latest([own.since, narrowed.since, begin]),
    until: earliest([own.until, narrowed.until]),
    unreadOnly: own.unreadOnly || narrowed.unreadOnly,
    state: own.state ?? narrowed.state,
  };
}

/** @throws FanfareError BAD_USER_INPUT */
export function viewNamed(name: string): FeedView {
  const view = feedViews().find((one) => one.name === name);
  if (view !== undefined) return view;
  const names = feedViews().map((one) => one.name);
  const known = names.length === 0 ? 'the configuration has none' : `there are ${names.join(', ')}`;
  throw badInput(`There is no view ${JSON.stringify(name.slice(0, MAX_SHOWN))}: ${known}`, ['view']);
}

/** Characters of an unknown name that are repeated to the client. */
const MAX_SHOWN = 60;

/**
 * The reader as the items of a list are decided by: a view can have a read mark of its own; a list of the reader also has what an
 * exclusive one keeps out of the feed.
 * @throws FanfareError NOT_FOUND for a list that the reader does not have
 */
export function readerOf(reader: ReaderProfile, { view }: Pick<CheckedFeedFilter, 'view'>): ReaderProfile {
  if (view?.listId !== undefined) {
    if (!reader.lists.some(({ id }) => id === view.listId)) throw noSuchList();
    return ofAllLists({ ...reader, checksFollows: true });
  }
  if (view?.hasOwnReadMark !== true) return reader;
  return { ...reader, lastRead: reader.viewsRead[view.name] ?? null };
}

/** The same reader with what exclusive lists keep out of the feed. */
export function ofAllLists(reader: ReaderProfile): ReaderProfile {
  return { ...reader, lists: reader.lists.map((list) => ({ ...list, isExclusive: false })) };
}

export function noSuchList(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no such list');
}

/** Of views whose filters are as the configuration has them. */
const checked = new WeakMap<object, CheckedFeedFilter>();

function ownFilter(userId: UserId, { filter: declared }: FeedView): CheckedFeedFilter {
  const filter = inputBeside(userId, declared);
  if (filter !== declared) return checkFeedFilter(filter);
  const known = checked.get(declared) ?? checkFeedFilter(declared);
  checked.set(declared, known);
  return known;
}

/** A window begins at a whole minute: what was made of a list holds for so long. */
const STEP_MS = 60_000;

function beginOf(windowMs: number): Date {
  return new Date(Math.floor(clock.time() / STEP_MS) * STEP_MS - windowMs);
}

const LIST: AskedFilter['row'] = {
  name: 'list',
  passes: ({ lists }, listId) => lists.includes(listId as string),
  mayHavePassed: 'BEFORE_A_CHANGE',
};

const WINDOW: AskedFilter['row'] = {
  name: 'window',
  passes: (item, windowMs, { order }) => DECLARED.order(order).timeOf(item) >= beginOf(windowMs as number),
  mayHavePassed: 'BEFORE_A_CHANGE',
};

function latest(times: readonly (Date | null)[]): Date | null {
  return times.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a));
}

function earliest(times: readonly (Date | null)[]): Date | null {
  return times.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a));
}
