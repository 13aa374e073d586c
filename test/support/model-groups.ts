import type { Services } from './services.ts';
import type { FeedFilter, FeedGroup, FeedGroupPage } from '../../src/core/shapes.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { ModelItem } from './model.ts';
import { readAll } from './model-action-views.ts';
import { found } from './model-run.ts';

/** A group in words that a person can compare. */
export interface ShownGroup {
  readonly items: readonly string[];
  readonly actors: readonly string[];
  readonly relevancy: string;
  readonly isUnread: boolean;
}

type Label = (id: string) => string;

async function shownGroup(label: Label, group: FeedGroup): Promise<ShownGroup> {
  const items = await group.load(() => false);
  return {
    items: items.map(({ actionId }) => label(actionId)),
    actors: [...new Set(items.map(({ action }) => action.actorId))],
    relevancy: group.relevancy.toISOString(),
    isUnread: group.isUnread,
  };
}

/** The feed in groups, by pages of this size, with its counts, and each group by its id. */
export async function actualGroups(
  services: Services,
  session: ReaderSession,
  {
    label,
    pageSize,
    filter,
    byId,
  }: {
    readonly label: Label;
    readonly pageSize: number;
    readonly filter?: FeedFilter | undefined;
    readonly byId?: boolean;
  },
): Promise<unknown> {
  const pages: FeedGroupPage[] = [];
  const groups = await readAll(async (args) => {
    const page = await services.readFeedGroups(session, { ...args, filter });
    pages.push(page);
    return page;
  }, pageSize);
  const again = await Promise.all(
    groups.map(async ({ groupKey }) => {
      const group = byId === true ? await services.getFeedGroup(session, groupKey) : null;
      return group === null ? [] : [await shownGroup(label, group)];
    }),
  );
  return {
    groups: await Promise.all(groups.map((group) => shownGroup(label, group))),
    byId: again.flat(),
    total: await found(pages[0]).countTotal(),
    unread: await found(pages[0]).countUnread(),
  };
}

/** What the definition says: the whole list, grouped. */
export function expectedGroups(label: Label, list: readonly ModelItem[], byId = false): unknown {
  const byKey = new Map<string, ModelItem[]>();
  for (const item of list) {
    const { type, text, conducted } = item.action;
    const key = `${type} ${text} ${new Date(conducted).toISOString().slice(0, 10)}`;
    byKey.set(key, [...(byKey.get(key) ?? []), item]);
  }
  const groups = Array.from(byKey.values(), (items): ShownGroup => {
    const [top] = items;
    if (top === undefined) throw new Error('A group without items');
    return {
      items: items.map(({ action }) => label(action.id)),
      actors: [...new Set(items.map(({ action }) => action.actorId))],
      relevancy: new Date(top.relevancy).toISOString(),
      isUnread: top.isUnread,
    };
  });
  return {
    groups,
    byId: byId ? groups : [],
    total: { count: groups.length, isExact: true },
    unread: { count: groups.filter(({ isUnread }) => isUnread).length, isExact: true },
  };
}
