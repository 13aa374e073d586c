import { clock } from '../../src/lib/clock.ts';
import { generationAt } from '../../src/domain/ranking.ts';
import type { FeedGroupPage } from '../../src/core/shapes.ts';
import { countUnreadOfViews } from '../../src/feed/groups/view-counts.ts';
import {
  archiveFor,
  baseOf,
  engagementOf,
  feedFor,
  isMuted,
  isSnoozed,
  isUnreadAt,
  maySee,
  reasonsFor,
  type Model,
  type ModelAction,
  type ModelItem,
  type ModelReader,
} from './model.ts';
import { readAll } from './model-action-views.ts';
import { expectedGroups } from './model-groups.ts';
import { found, type Run } from './model-run.ts';

const label = { en: 'View' };
const source = {
  url: 'https://host.example.com/picks',
  secrets: [`whsec_${Buffer.alloc(32, 9).toString('base64')}`],
};
const RANK =
  'comments * 5.0 + likes * 3.0 + reshares * 2.0 + (isFollowed ? 2.0 : 0.0) + ("MENTION" in reasons ? 1.5 : 0.0) + double(size(tags)) + (type == "Custom" ? 0.25 : 0.0) - ageHours * 0.001';

/** Views of every kind, as a host declares them. */
export const VIEWS = {
  named: { label, filter: { reasons: ['MENTION', 'RECIPIENT'] }, ownReadMark: true },
  plain: { label, filter: { not: { types: ['NewApplicant'], tags: ['blue'], reasons: ['RESHARE'] } } },
  grouped: { label, filter: { tags: ['red'] }, grouped: true },
  recent: { label, order: 'RECENT', window: '1d' },
  archive: { label, filter: { archived: true } },
  hot: { label, order: { rank: RANK }, filter: { not: { tags: ['blue'] } } },
  day: { label, order: { rank: RANK }, window: '1d' },
  picks: { label, source },
  notes: { label, source, filter: { types: ['Custom'] }, ownReadMark: true },
} as const;
type ViewName = keyof typeof VIEWS;
const NAMES = Object.keys(VIEWS) as ViewName[];

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** What the host offers every reader in its views, by the order in which actions were recorded. */
export function offerOf(actions: readonly { readonly id: string }[]): ReadonlyMap<string, number> {
  return new Map(actions.flatMap(({ id }, n) => (n % 4 === 3 ? [] : [[id, (n * 5) % 7] as const])));
}

/** What the reader may see of what the host offers, also what is not in their feed. */
function offeredTo(model: Model, reader: ModelReader): ModelItem[] {
  const feed = new Map(feedFor(model, reader).map((item) => [item.action.id, item]));
  const isAside = ({ id }: ModelAction): boolean =>
    reader.hiddenActionIds.includes(id) || reader.archivedActionIds.includes(id) || isSnoozed(reader, id);
  return model.actions.flatMap((action) => {
    const item = feed.get(action.id);
    if (item !== undefined) return [item];
    if (reasonsFor(model, reader.userId, action).length > 0 || action.isHidden) return [];
    if (!maySee(model, reader, action) || isMuted(reader, action) || isAside(action)) return [];
    const relevancy = baseOf(action);
    return [{ action, relevancy, reasons: [], isUnread: isUnreadAt(reader, action.id, relevancy) }];
  });
}

function scoreOf({ action, reasons }: ModelItem, generation: number): number {
  const { comments, likes, reshares } = engagementOf(action);
  const isFollowed = reasons.includes('FOLLOW') || reasons.includes('RESHARE');
  const ageHours = Math.max(0, generation - action.conducted) / HOUR_MS;
  return (
    comments * 5 +
    likes * 3 +
    reshares * 2 +
    (isFollowed ? 2 : 0) +
    (reasons.includes('MENTION') ? 1.5 : 0) +
    action.tags.length +
    (action.type === 'Custom' ? 0.25 : 0) -
    ageHours * 0.001
  );
}

function best(items: readonly ModelItem[], score: (item: ModelItem) => number): ModelItem[] {
  return [...items].sort((a, b) => score(b) - score(a) || (a.action.id < b.action.id ? 1 : -1));
}

/** What the definition says that is in a view, in its order. */
function defined({ model }: Run, own: ModelReader, generation: number): Record<ViewName, ModelItem[]> {
  const feed = feedFor(model, own);
  const isLately = ({ action }: ModelItem): boolean => action.conducted >= clock.time() - DAY_MS;
  const byRank = (items: readonly ModelItem[]): ModelItem[] =>
    best(items, (item) => scoreOf(item, generation));
  const offer = offerOf(model.actions);
  const offered = best(
    offeredTo(model, own).filter(({ action }) => offer.has(action.id)),
    ({ action }) => found(offer.get(action.id)),
  );
  return {
    named: feed.filter(({ reasons }) => reasons.includes('MENTION') || reasons.includes('RECIPIENT')),
    plain: feed.filter(
      ({ action, reasons }) =>
        action.type !== 'NewApplicant' && !action.tags.includes('blue') && !reasons.includes('RESHARE'),
    ),
    grouped: feed.filter(({ action }) => action.tags.includes('red')),
    recent: best(feed.filter(isLately), ({ action }) => action.conducted),
    archive: archiveFor(model, own),
    hot: byRank(feed.filter(({ action }) => !action.tags.includes('blue'))),
    day: byRank(feed.filter(isLately)),
    picks: offered,
    notes: offered.filter(({ action }) => action.type === 'Custom'),
  };
}

/** Where a view with a mark of its own is read up to; null: nowhere. */
type Marks = Partial<Record<ViewName, number | null>>;

const hasOwnMark = (name: ViewName): boolean => name === 'named' || name === 'notes';
const isRelevant = (name: ViewName): boolean => ['named', 'plain', 'grouped', 'archive'].includes(name);

/** Views of a reader, as the definition has them and as the server shows them, in words that a person can compare. */
export async function viewsOf(
  run: Run,
  reader: ModelReader,
  {
    pageSize,
    marks,
    generation,
  }: { readonly pageSize: number; readonly marks: Marks; readonly generation: Date },
): Promise<readonly [expected: object, actual: object]> {
  const { parts, model } = run;
  const { services } = parts;
  const session = parts.session(reader.userId, ...reader.roles);
  const numbers = new Map(model.actions.map(({ id }, n) => [id, `#${String(n)}`]));
  const name = (id: string): string => numbers.get(id) ?? `unknown ${id}`;
  const shown = (id: string, isUnread: boolean): string => `${name(id)}${isUnread ? ' unread' : ''}`;
  const [expected, actual]: Record<string, unknown>[] = [{}, {}];
  const counts: Record<string, unknown> = {};
  for (const view of NAMES) {
    const own = hasOwnMark(view) ? { ...reader, lastRead: marks[view] ?? null } : reader;
    const items = defined(run, own, generationAt(generation).getTime())[view];
    const unread = items.filter((item) => item.isUnread);
    const groups = expectedGroups(name, items) as {
      readonly groups: readonly object[];
      readonly unread: object;
    };
    counts[view] = view === 'grouped' ? groups.unread : { count: unread.length, isExact: true };
    const first = isRelevant(view) ? unread.at(-1) : undefined;
    found(expected)[view] = {
      items: items.map(({ action, isUnread }) => shown(action.id, isUnread)),
      groups: isRelevant(view) ? groups.groups.length : 0,
      total: { count: items.length, isExact: true },
      unread: { count: unread.length, isExact: true },
      first: first && name(first.action.id),
    };
    const page = await services.readFeed(session, { view, first: 100, withUnread: true, withTotal: true });
    const paged = await readAll((args) => services.readFeed(session, { ...args, view }), pageSize);
    const grouped: FeedGroupPage | null = isRelevant(view)
      ? await services.readFeedGroups(session, { view, first: 50 })
      : null;
    found(actual)[view] = {
      items: paged.map(({ actionId, isUnread }) => shown(actionId, isUnread)),
      groups: grouped?.edges.length ?? 0,
      total: await page.countTotal(),
      unread: await page.countUnread(),
      first: ((id) => id && name(id))((await services.findFirstUnread(session, { view }))?.item.actionId),
    };
  }
  const together = await countUnreadOfViews(parts.core, session);
  return [
    { ...expected, counts },
    { ...actual, counts: Object.fromEntries(together) },
  ];
}

/** Moves the marks of some views as a reader does who has seen the lower half of them. */
export async function markViews(run: Run, reader: ModelReader): Promise<Marks> {
  const { services } = run.parts;
  const session = run.parts.session(reader.userId, ...reader.roles);
  const marks: Marks = {};
  for (const view of NAMES.filter(hasOwnMark)) {
    const { edges } = await services.readFeed(session, { view, first: 100 });
    const upTo = edges[Math.floor(edges.length / 2)]?.node.relevancy;
    if (upTo === undefined) continue;
    await services.markFeedRead(session, upTo, { view });
    marks[view] = Math.min(upTo.getTime(), clock.time());
  }
  return marks;
}
