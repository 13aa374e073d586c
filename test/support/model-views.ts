import type { NewsfeedItem } from '../../src/domain/newsfeed-item.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { FeedFilter } from '../../src/core/shapes.ts';
import { countUnreadOfLists } from '../../src/feed/groups/view-counts.ts';
import {
  allOfFeed,
  isInList,
  archiveFor,
  bookmarksOf,
  feedFor,
  hiddenBy,
  isUnreadAt,
  maySee,
  passedOnTo,
  sliceFor,
  snoozesFor,
  type ModelItem,
  type ModelReader,
} from './model.ts';
import {
  actualAction,
  actualRef,
  actualTexts,
  expectedAction,
  expectedRef,
  expectedTexts,
  readAll,
} from './model-action-views.ts';
import { expectedExplanation, shownExplanation } from './model-explain.ts';
import { actualGroups, expectedGroups } from './model-groups.ts';
import { notificationsFor } from './model-concerns.ts';
import { actualNotifications, expectedNotifications } from './model-notifications.ts';
import { found, type Run } from './model-run.ts';
import { PEOPLE, REFS, TAGS } from './model-steps.ts';

/** An item in words that a person can compare. */
export interface ShownItem {
  readonly action: string;
  readonly relevancy: string;
  readonly reasons: readonly string[];
  readonly isUnread: boolean;
  /** Who passed it on to the reader; the newest first. */
  readonly resharedBy: readonly string[];
}

/** All that a reader is shown, by way in. */
export type View = Readonly<Record<string, unknown>>;

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
  resharedBy: readonly string[],
): ShownItem {
  return {
    action: label(actionId),
    relevancy: relevancy.toISOString(),
    // How a follow brings it there is not for the definition to say.
    reasons: [...new Set(reasons.map((reason) => (reason === 'PULL' ? 'FOLLOW' : reason)))].sort(),
    isUnread,
    resharedBy,
  };
}

function isAmong(reasons: readonly string[], reason: string): boolean {
  return reasons.includes(reason);
}

function expectedItem(run: Run, reader: ModelReader, item: ModelItem): ShownItem {
  const { action, relevancy } = item;
  const passers = passedOnTo(run.model, reader.userId, action);
  return shownItem(labelsOf(run), { ...item, actionId: action.id, relevancy: new Date(relevancy) }, passers);
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
export function filtersFor(run: Run, feed: readonly ModelItem[]): FilterCase[] {
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
    { name: 'tag', filter: { tags: [found(tag)] }, passes: (item) => item.action.tags.includes(found(tag)) },
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
    // No name and no sentence has the word.
    {
      name: 'text',
      filter: { text: 'HOMEw' },
      passes: ({ action }) => action.text.includes('homework'),
    },
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

export function byTime(feed: readonly ModelItem[]): ModelItem[] {
  return [...feed].sort(
    (a, b) => b.action.conducted - a.action.conducted || (a.action.id < b.action.id ? 1 : -1),
  );
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
  const shown = async (item: NewsfeedItem): Promise<ShownItem> =>
    shownItem(label, item, await services.resharedBy(session, item));
  const whole = await feed(look.isThorough ? 100 : look.pageSize);
  view['feed'] = await Promise.all(whole.map(shown));
  view['unread'] = await services.countUnread(session);
  const slicePage = look.isThorough ? look.pageSize : 100;
  for (const name of look.isThorough ? FOLLOWABLE : REFS) {
    const slice = await readAll((args) => services.readSlice(session, run.id(name), args), slicePage);
    view[`slice of ${name}`] = slice.map((action) => label(action.id));
  }
  for (const { id } of run.model.actions) {
    const action = await services.getAction(session, id);
    if (action === null) continue;
    view[`action ${label(id)}`] = await actualAction({ run, session, pageSize: look.pageSize }, action);
  }
  const names = look.isThorough ? FOLLOWABLE : REFS;
  const refs = await Promise.all(
    names.map((name) => actualRef(run, session, { refId: run.id(name), label })),
  );
  for (const [n, name] of names.entries()) view[`ref ${name}`] = refs[n];
  if (!look.isThorough) return view;
  view['notifications'] = await actualNotifications(services, session, {
    ...{ label, pageSize: look.pageSize, expected: notificationsFor(run.model, reader) },
  });
  view['texts to moderate'] = await actualTexts(run);
  view['feed by pages'] = await Promise.all((await feed(look.pageSize)).map(shown));
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
  for (const [name, { id }] of reader.lists) {
    await filtered(`list ${name}`, { listId: id });
    await filtered(`list ${name}, by time`, { listId: id, order: 'RECENT' });
    await filtered(`list ${name} and archived`, { listId: id, filter: { archived: true } });
  }
  const ids = Array.from(reader.lists.values(), ({ id }) => id);
  view['unread of lists'] = [...(await countUnreadOfLists(run.parts.core, session, ids)).values()];
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
  view['first unread'] = jump === null ? null : await shown(jump.item);
  view['from the first unread on'] =
    jump === null
      ? []
      : (await services.readFeed(session, { first: 100, after: jump.cursor })).edges.map(({ node }) =>
          label(node.actionId),
        );
  for (const { id } of run.model.actions) {
    const item = await services.getNewsfeedItem(session, id);
    if (item !== null) view[`item ${label(id)}`] = await shown(item);
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

/** What the definition says that is. */
export function expectedView(run: Run, reader: ModelReader, look: Look): View {
  const { model } = run;
  const label = labelsOf(run);
  const feed = feedFor(model, reader);
  const view: Record<string, unknown> = {};
  view['feed'] = feed.map((item) => expectedItem(run, reader, item));
  view['unread'] = { count: feed.filter((item) => item.isUnread).length, isExact: true };
  for (const name of look.isThorough ? FOLLOWABLE : REFS)
    view[`slice of ${name}`] = sliceFor(model, reader, run.id(name)).map((action) => label(action.id));
  for (const action of model.actions)
    if (maySee(model, reader, action))
      view[`action ${label(action.id)}`] = expectedAction(run, reader, action);
  for (const name of look.isThorough ? FOLLOWABLE : REFS)
    view[`ref ${name}`] = expectedRef(run, reader, { refId: run.id(name), label });
  if (!look.isThorough) return view;
  view['notifications'] = expectedNotifications(model, reader, label);
  view['texts to moderate'] = expectedTexts(model);
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
  const listed = (list: readonly ModelItem[], name: string): ModelItem[] =>
    list.filter(({ action }) => isInList(model, reader, action, name));
  const all = allOfFeed(model, reader);
  for (const name of reader.lists.keys()) {
    filtered(`list ${name}`, listed(all, name));
    filtered(`list ${name}, by time`, byTime(listed(all, name)));
    filtered(`list ${name} and archived`, listed(archive, name));
  }
  view['unread of lists'] = Array.from(reader.lists.keys(), (name) => ({
    count: listed(all, name).filter((item) => item.isUnread).length,
    isExact: true,
  }));
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
  view['first unread'] = oldest === undefined ? null : expectedItem(run, reader, oldest);
  view['from the first unread on'] =
    oldest === undefined ? [] : feed.slice(feed.indexOf(oldest)).map((item) => label(item.action.id));
  for (const item of [...all, ...archive, ...snoozed])
    view[`item ${label(item.action.id)}`] = expectedItem(run, reader, item);
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
    const seen = shownItem(label, node, await parts.services.resharedBy(session, node));
    const item = allowed.get(node.actionId);
    const relevancy = node.relevancy.getTime();
    const isRight =
      item !== undefined &&
      !shown.has(node.actionId) &&
      relevancy <= above &&
      // A feed that is yet to be rebuilt may be in the order of before.
      (relevancy <= item.relevancy || state === 'REBUILDING') &&
      seen.reasons.every((reason) => isAmong(item.reasons, reason)) &&
      seen.resharedBy.join() === passedOnTo(model, reader.userId, item.action).join() &&
      node.isUnread === isUnreadAt(reader, node.actionId, relevancy);
    if (!isRight) faults.push({ shown: seen, expected: item && expectedItem(run, reader, item) });
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
