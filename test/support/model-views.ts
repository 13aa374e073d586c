import type { Action } from '../../src/domain/action.ts';
import type { NewsfeedItem } from '../../src/domain/newsfeed-item.ts';
import { liveName } from '../../src/graphql/live-names.ts';
import type { ReaderSession } from '../../src/services/session/reader-session.ts';
import type { FeedFilter, Page, PageArgs } from '../../src/services/shapes.ts';
import {
  archiveFor,
  bookmarksOf,
  engagementOf,
  feedFor,
  hiddenBy,
  interactionsFor,
  isUnreadAt,
  maySee,
  sliceFor,
  snoozesFor,
  type ModelAction,
  type ModelItem,
  type ModelReader,
} from './model.ts';
import { expectedExplanation, shownExplanation } from './model-explain.ts';
import { actualGroups, expectedGroups } from './model-groups.ts';
import { found, type Run } from './model-run.ts';
import { PEOPLE, REFS, TAGS } from './model-steps.ts';

/** An item in words that a person can compare. */
export interface ShownItem {
  readonly action: string;
  readonly relevancy: string;
  readonly reasons: readonly string[];
  readonly isUnread: boolean;
}

/** All that a reader is shown, by way in. */
export type View = Readonly<Record<string, unknown>>;

type PageReader<T> = (args: PageArgs) => Promise<Page<T>>;

/** Follows the cursors to the end, with pages of this size. A page that is not full must be the last. */
async function readAll<T>(read: PageReader<T>, size: number): Promise<T[]> {
  const nodes: T[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Page<T> = await read({ first: size, after });
    nodes.push(...page.edges.map((edge) => edge.node));
    if (!page.hasNextPage) return nodes;
    if (page.edges.length < size) throw new Error('A page before the last is not full');
    after = page.endCursor;
  }
}

/** Actions by the order they were recorded in: `#0`, `#1`. */
function labelsOf({ model }: Run): (id: string) => string {
  const numbers = new Map(model.actions.map((action, n) => [action.id, `#${String(n)}`]));
  return (id) => numbers.get(id) ?? `unknown ${id}`;
}

export function shownItem(
  label: (id: string) => string,
  {
    actionId,
    relevancy,
    reasons,
    isUnread,
  }: Pick<NewsfeedItem, 'actionId' | 'relevancy' | 'reasons' | 'isUnread'>,
): ShownItem {
  return {
    action: label(actionId),
    relevancy: relevancy.toISOString(),
    // How a follow brings it there is not for the definition to say.
    reasons: [...new Set(reasons.map((reason) => (reason === 'PULL' ? 'FOLLOW' : reason)))].sort(),
    isUnread,
  };
}

function isAmong(reasons: readonly string[], reason: string): boolean {
  return reasons.includes(reason);
}

function expectedItem(label: (id: string) => string, item: ModelItem): ShownItem {
  return shownItem(label, { ...item, actionId: item.action.id, relevancy: new Date(item.relevancy) });
}

function readerSession({ parts }: Run, reader: ModelReader): ReaderSession {
  return parts.session(reader.userId, ...reader.roles);
}

interface FilterCase {
  readonly name: string;
  readonly filter: FeedFilter;
  readonly passes: (item: ModelItem) => boolean;
}

/** Every field of a filter on its own, and two together. */
function filtersFor(run: Run, feed: readonly ModelItem[]): FilterCase[] {
  const middle = feed[Math.floor(feed.length / 2)]?.relevancy ?? 0;
  const [ann, bob, site] = ['ann', 'bob', 'site'].map((name) => run.id(name));
  const carries = (refId: string) => (item: ModelItem) =>
    item.action.actorId === refId || item.action.refIds.includes(refId);
  const actorIds = [found(ann), found(bob)];
  const [tag] = TAGS;
  return [
    { name: 'types', filter: { types: ['Custom'] }, passes: (item) => item.action.type === 'Custom' },
    { name: 'actorIds', filter: { actorIds }, passes: (item) => actorIds.includes(item.action.actorId) },
    { name: 'refId', filter: { refId: found(site) }, passes: carries(found(site)) },
    { name: 'tag', filter: { tag }, passes: (item) => item.action.tags.includes(tag) },
    {
      name: 'tags',
      filter: { tags: [...TAGS] },
      passes: (item) => TAGS.some((any) => item.action.tags.includes(any)),
    },
    {
      name: 'reasons',
      filter: { reasons: ['MENTION', 'FOLLOW', 'PULL'] },
      passes: ({ reasons }) => reasons.includes('MENTION') || reasons.includes('FOLLOW'),
    },
    { name: 'since', filter: { since: new Date(middle) }, passes: (item) => item.relevancy >= middle },
    { name: 'until', filter: { until: new Date(middle) }, passes: (item) => item.relevancy < middle },
    { name: 'unreadOnly', filter: { unreadOnly: true }, passes: (item) => item.isUnread },
    {
      name: 'actor as ref, since and unread',
      filter: { refId: found(ann), since: new Date(middle), unreadOnly: true },
      passes: (item) => carries(found(ann))(item) && item.relevancy >= middle && item.isUnread,
    },
  ];
}

/** Those by which the feed is also looked at in groups: one on actions, one on places, one on marks. */
function groupedBy(cases: readonly FilterCase[]): FilterCase[] {
  return cases.filter(({ name }) => ['tag', 'until', 'unreadOnly'].includes(name));
}

/** In the order of time the times of a filter are when things were conducted. */
function timeFiltersFor({ actions }: Run['model']): FilterCase[] {
  const time = actions[0]?.conducted ?? 0;
  return [
    {
      name: 'since',
      filter: { since: new Date(time) },
      passes: ({ action }) => action.conducted >= time,
    },
    {
      name: 'until',
      filter: { until: new Date(time) },
      passes: ({ action }) => action.conducted < time,
    },
  ];
}

function byTime(feed: readonly ModelItem[]): ModelItem[] {
  return [...feed].sort(
    (a, b) => b.action.conducted - a.action.conducted || (a.action.id < b.action.id ? 1 : -1),
  );
}

/** Whether a ref got its name after the action was given it: then the action's copy is to have followed. */
function isCarried({ model }: Run, refId: string, actionId: string): boolean {
  const name = model.names.get(refId);
  const action = found(model.actions.find(({ id }) => id === actionId));
  return name !== undefined && action.refsGiven < name.given;
}

function copiesThatFollow(run: Run, { id, refs }: Action): string[] {
  return refs.flatMap((ref) => (isCarried(run, ref.id, id) ? [ref.label] : []));
}

const FOLLOWABLE = [...REFS, ...PEOPLE];

/** How closely to look. */
export interface Look {
  readonly pageSize: number;
  /** Also through every filter, in the other order, item by item, and at the slices of people. */
  readonly isThorough: boolean;
}

/** What the server shows a reader, by every way in. */
export async function actualView(run: Run, reader: ModelReader, look: Look): Promise<View> {
  const { services } = run.parts;
  const label = labelsOf(run);
  const session = readerSession(run, reader);
  const view: Record<string, unknown> = {};
  const feed = (size: number, more: object = {}): Promise<NewsfeedItem[]> =>
    readAll((args) => services.readFeed(session, { ...args, ...more }), size);
  view['feed'] = (await feed(look.isThorough ? 100 : look.pageSize)).map((item) => shownItem(label, item));
  view['unread'] = await services.countUnread(session);
  const slicePage = look.isThorough ? look.pageSize : 100;
  for (const name of look.isThorough ? FOLLOWABLE : REFS) {
    const slice = await readAll((args) => services.readSlice(session, run.id(name), args), slicePage);
    view[`slice of ${name}`] = slice.map((action) => label(action.id));
  }
  for (const { id } of run.model.actions) {
    const action = await services.getAction(session, id);
    if (action === null) continue;
    const own = await session.own.load(id);
    view[`action ${label(id)}`] = {
      ...{ isHidden: action.isHidden, ...action.engagement },
      done: [...(own?.kinds ?? [])].sort(),
      given: own?.reactions ?? [],
      interactions: (
        await readAll((args) => services.listInteractions(session, id, args), look.pageSize)
      ).map((one) => [one.id, one.kind, one.reaction, one.actorId, one.at.toISOString(), one.state]),
      names: await Promise.all(
        action.refs.map(async (ref) => (await liveName(session, ref.id)) ?? ref.label),
      ),
      copies: copiesThatFollow(run, action),
    };
  }
  if (!look.isThorough) return view;
  view['feed by pages'] = (await feed(look.pageSize)).map((item) => shownItem(label, item));
  const kept = await readAll((args) => services.readBookmarks(session, args), look.pageSize);
  view['bookmarks'] = kept.map(({ id }) => label(id));
  view['total of bookmarks'] = await (await services.readBookmarks(session, { first: 1 })).countTotal();
  const filtered = async (name: string, more: object): Promise<void> => {
    view[`feed by ${name}`] = (await feed(look.pageSize, more)).map((item) => label(item.actionId));
    const page = await services.readFeed(session, { first: look.pageSize, withUnread: true, ...more });
    view[`unread by ${name}`] = await page.countUnread();
    view[`total by ${name}`] = await page.countTotal();
  };
  for (const { name, filter } of filtersFor(run, feedFor(run.model, reader)))
    await filtered(name, { filter });
  for (const { name, filter } of timeFiltersFor(run.model))
    await filtered(`${name}, by time`, { filter, order: 'RECENT' });
  await filtered('archived', { filter: { archived: true } });
  await filtered('archived, by time', { filter: { archived: true }, order: 'RECENT' });
  await filtered('archived and unread', { filter: { archived: true, unreadOnly: true } });
  await filtered('snoozed', { filter: { snoozed: true } });
  await filtered('snoozed, by time', { filter: { snoozed: true }, order: 'RECENT' });
  const hidden = await readAll((args) => services.readHiddenItems(session, args), look.pageSize);
  view['hidden items'] = hidden.map(({ id }) => label(id)).sort();
  view['feed by time'] = (await feed(look.pageSize, { order: 'RECENT' })).map((item) => label(item.actionId));
  const best = (await feed(look.pageSize, { order: 'TOP' })).map((item) => label(item.actionId));
  view['best of the feed'] = [...best].sort();
  const groups = (filter?: FeedFilter, byId = false): Promise<unknown> =>
    actualGroups(services, session, { label, pageSize: look.pageSize, ...(filter && { filter }), byId });
  view['groups'] = await groups(undefined, true);
  view['groups of what is archived'] = await groups({ archived: true });
  view['groups of what is snoozed'] = await groups({ snoozed: true });
  for (const { name, filter } of groupedBy(filtersFor(run, feedFor(run.model, reader))))
    view[`groups by ${name}`] = await groups(filter);
  const jump = await services.findFirstUnread(session);
  view['first unread'] = jump === null ? null : shownItem(label, jump.item);
  view['from the first unread on'] =
    jump === null
      ? []
      : (await services.readFeed(session, { first: 100, after: jump.cursor })).edges.map(({ node }) =>
          label(node.actionId),
        );
  for (const { id } of run.model.actions) {
    const item = await services.getNewsfeedItem(session, id);
    if (item !== null) view[`item ${label(id)}`] = shownItem(label, item);
    if ((await services.getAction(session, id)) !== null)
      view[`why ${label(id)}`] = shownExplanation(await services.explainFeedItem(session, id, null));
    const admin = run.parts.session('root', 'admin');
    if ((await services.getAction(admin, id)) !== null)
      view[`why ${label(id)}, for an admin`] = shownExplanation(
        await services.explainFeedItem(admin, id, reader.userId),
      );
  }
  return view;
}

function doneBy({ userId }: ModelReader, { interactions }: ModelAction): object {
  const own = interactions.filter(({ actorId, state }) => actorId === userId && state === 'VISIBLE');
  return {
    done: [...new Set(own.map(({ kind }) => kind))].sort(),
    given: own.flatMap(({ reaction }) => reaction ?? []).sort(),
  };
}

/** What the definition says that is. */
export function expectedView(run: Run, reader: ModelReader, look: Look): View {
  const { model } = run;
  const label = labelsOf(run);
  const feed = feedFor(model, reader);
  const view: Record<string, unknown> = {};
  view['feed'] = feed.map((item) => expectedItem(label, item));
  view['unread'] = { count: feed.filter((item) => item.isUnread).length, isExact: true };
  for (const name of look.isThorough ? FOLLOWABLE : REFS)
    view[`slice of ${name}`] = sliceFor(model, reader, run.id(name)).map((action) => label(action.id));
  for (const action of model.actions)
    if (maySee(model, reader, action))
      view[`action ${label(action.id)}`] = {
        ...{ isHidden: action.isHidden, ...engagementOf(action) },
        ...doneBy(reader, action),
        interactions: interactionsFor(reader, action).map((one) => [
          ...[one.id, one.kind, one.reaction, one.actorId, new Date(one.at).toISOString(), one.state],
        ]),
        names: action.refIds.map((refId) => model.names.get(refId)?.label ?? refId),
        copies: action.refIds.flatMap((refId) =>
          isCarried(run, refId, action.id) ? [model.names.get(refId)?.label] : [],
        ),
      };
  if (!look.isThorough) return view;
  view['feed by pages'] = view['feed'];
  const kept = bookmarksOf(model, reader);
  view['bookmarks'] = kept.map(({ id }) => label(id));
  view['total of bookmarks'] = { count: kept.length, isExact: true };
  const filtered = (name: string, list: readonly ModelItem[]): void => {
    view[`feed by ${name}`] = list.map((item) => label(item.action.id));
    view[`unread by ${name}`] = { count: list.filter((item) => item.isUnread).length, isExact: true };
    view[`total by ${name}`] = { count: list.length, isExact: true };
  };
  for (const { name, passes } of filtersFor(run, feed)) filtered(name, feed.filter(passes));
  for (const { name, passes } of timeFiltersFor(model))
    filtered(`${name}, by time`, byTime(feed).filter(passes));
  const archive = archiveFor(model, reader);
  filtered('archived', archive);
  filtered('archived, by time', byTime(archive));
  filtered(
    'archived and unread',
    archive.filter((item) => item.isUnread),
  );
  const snoozed = snoozesFor(model, reader);
  filtered('snoozed', snoozed);
  filtered('snoozed, by time', byTime(snoozed));
  view['hidden items'] = hiddenBy(model, reader)
    .map(({ id }) => label(id))
    .sort();
  view['feed by time'] = byTime(feed).map((item) => label(item.action.id));
  view['best of the feed'] = feed.map((item) => label(item.action.id)).sort();
  view['groups'] = expectedGroups(label, feed, true);
  view['groups of what is archived'] = expectedGroups(label, archive);
  view['groups of what is snoozed'] = expectedGroups(label, snoozed);
  for (const { name, passes } of groupedBy(filtersFor(run, feed)))
    view[`groups by ${name}`] = expectedGroups(label, feed.filter(passes));
  const unread = feed.filter((item) => item.isUnread);
  const oldest = unread.at(-1);
  view['first unread'] = oldest === undefined ? null : expectedItem(label, oldest);
  view['from the first unread on'] =
    oldest === undefined ? [] : feed.slice(feed.indexOf(oldest)).map((item) => label(item.action.id));
  for (const item of [...feed, ...archive, ...snoozed])
    view[`item ${label(item.action.id)}`] = expectedItem(label, item);
  for (const action of model.actions) {
    if (maySee(model, reader, action))
      view[`why ${label(action.id)}`] = expectedExplanation(model, reader, action, true);
    if (!action.isDeleted)
      view[`why ${label(action.id)}, for an admin`] = expectedExplanation(model, reader, action, false);
  }
  return view;
}

/**
 * What a reader is shown while fan-outs are under way that they may not be shown, or not like this: nothing, when all is
 * well. Slices and single actions have to be right at any time; a feed may lack what is not delivered yet, and show no
 * more than that.
 */
export async function faultsInPassing(run: Run, reader: ModelReader): Promise<unknown[]> {
  const { parts, model } = run;
  const label = labelsOf(run);
  const session = readerSession(run, reader);
  const faults: unknown[] = [];
  const allowed = new Map(feedFor(model, reader).map((item) => [item.action.id, item]));
  const { edges, state } = await parts.services.readFeed(session, { first: 100 });
  let above = Number.POSITIVE_INFINITY;
  const shown = new Set<string>();
  for (const { node } of edges) {
    const item = allowed.get(node.actionId);
    const relevancy = node.relevancy.getTime();
    const isRight =
      item !== undefined &&
      !shown.has(node.actionId) &&
      relevancy <= above &&
      // A feed that is yet to be rebuilt may be in the order of before.
      (relevancy <= item.relevancy || state === 'REBUILDING') &&
      shownItem(label, node).reasons.every((reason) => isAmong(item.reasons, reason)) &&
      node.isUnread === isUnreadAt(reader, node.actionId, relevancy);
    if (!isRight) faults.push({ shown: shownItem(label, node), expected: item && expectedItem(label, item) });
    shown.add(node.actionId);
    above = relevancy;
  }
  for (const { id } of model.actions) {
    const isShown = (await parts.services.getAction(session, id)) !== null;
    if (isShown !== maySee(model, reader, found(model.actions.find((action) => action.id === id))))
      faults.push({ action: label(id), isShown });
  }
  for (const name of REFS) {
    const slice = await readAll((args) => parts.services.readSlice(session, run.id(name), args), 100);
    const ids = slice.map((action) => label(action.id));
    const expected = sliceFor(model, reader, run.id(name)).map((action) => label(action.id));
    if (ids.join() !== expected.join()) faults.push({ slice: name, shown: ids, expected });
  }
  return faults;
}
