import type { Core } from '../../features/core.ts';
import {
  type FeedEntry,
  type FeedPosition,
  type NewsfeedItem,
  compareFeedPositions,
} from '../../domain/newsfeed-item.ts';
import { decodeGroups, encodeGroups, groupMark } from '../../domain/cursor.ts';
import type { ActionId } from '../../domain/action.ts';
import { clock } from '../../lib/clock.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { sessionBatches } from '../session/session-batches.ts';
import type { FeedFilter, FeedGroup, FeedGroupPage, PageArgs } from '../../features/shapes.ts';
import { checkFeedFilter } from '../page/filters.ts';
import { openStages, type PageStages } from '../page/read-page.ts';
import { collectPage, pageSize } from '../page/paging.ts';
import { groupOf } from '../../descriptors/group-key.ts';
import { FeedList, MAX_BATCH } from '../page/list.ts';
import { GroupMembers } from './group-members.ts';

/** The part of the feed that the page's read has. */
interface ReadPart {
  /** It begins below this position; `null`: at the top. */
  readonly from: FeedPosition | null;
  /** Its last entry; `null`: it reaches to the end. */
  readonly to: FeedPosition | null;
}

/**
 * One grouped read of a feed: page, total and unread count. A group is represented by its topmost visible item. What of a
 * group lies in the part of the feed that the page was read from comes from this read; the rest is read afterwards, and
 * what has risen into that part by then is left out. So no response mixes the order of two moments.
 */
class GroupList extends FeedList {
  readonly #core: Core;
  readonly #lookUp: PageStages['lookUp'];
  readonly #members: GroupMembers;
  /** The first entry that was read of each action: this response shows no other. */
  readonly #entries: Map<ActionId, FeedEntry>;
  /** The page's visible entries by group, and the group of each. */
  readonly #ofGroup = new Map<string, FeedEntry[]>();
  readonly #groupOf = new Map<ActionId, string>();
  #part: ReadPart | null = null;

  constructor(core: Core, stages: PageStages) {
    const first = new Map<ActionId, FeedEntry>();
    super({
      ...stages,
      async skeleton(after, limit) {
        const entries = await stages.skeleton(after, limit);
        for (const entry of entries) if (!first.has(entry.actionId)) first.set(entry.actionId, entry);
        return entries;
      },
      keyOf: ({ action }) => groupOf(action),
      unreadAtOnce: MAX_BATCH,
    });
    this.#core = core;
    this.#lookUp = stages.lookUp;
    this.#entries = first;
    this.#members = new GroupMembers({
      actionGroups: core.actionGroups,
      endedSnoozes: async () => (await stages.lookUp()).endedSnoozes(),
      find: (ids) => this.#find(ids),
      select: (entries) => this.select(entries),
      known: (actionId) => this.#ofGroup.get(this.#groupOf.get(actionId) ?? '') ?? [],
      floor: () => this.#floor(),
    });
  }

  /** The next entries of the page. Must be called for one part of the feed, in order. */
  override async scan(after: FeedPosition | null, limit: number): Promise<readonly FeedEntry[]> {
    const entries = await super.scan(after, limit);
    const to = entries.length < limit ? null : (entries.at(-1) ?? null);
    this.#part = { from: this.#part === null ? after : this.#part.from, to };
    return entries;
  }

  /** The visible entries, each as it was first read. */
  override select(entries: readonly FeedEntry[]): Promise<NewsfeedItem[]> {
    return super.select(entries.map((entry) => this.#first(entry)));
  }

  /**
   * Filters entries down to those that open their groups, keeping the order. Must then be called for all following entries
   * in order.
   * @param wasListed whether an earlier page has listed the group; `null`: this is the first page, from the top.
   */
  opening(
    wasListed: ((groupKey: string) => boolean) | null,
  ): (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]> {
    const seen = new Set<string>();
    return async (entries) => {
      const visible = await this.select(entries);
      for (const item of visible) this.#keep(item);
      const items = this.firstOfKeys(visible, seen);
      if (wasListed === null) return items;
      return this.topmost(items.filter(({ action }) => !wasListed(groupOf(action))));
    };
  }

  /** The group that an item opens. @param actionId the member by which the group was found. */
  groupOf(top: NewsfeedItem, actionId = top.actionId): FeedGroup {
    const groupKey = groupOf(top.action);
    const isAlone = top.action.groupKey === null;
    const ofGroup = (items: readonly NewsfeedItem[]): NewsfeedItem[] =>
      items.filter(({ action }) => groupOf(action) === groupKey);
    return {
      userId: top.userId,
      groupKey,
      relevancy: top.relevancy,
      isUnread: top.isUnread,
      load: async (isEnough) => {
        if (isAlone || isEnough([top])) return [top];
        const items = ofGroup(await this.#members.load(actionId, (some) => isEnough(ofGroup(some))));
        // Until the group key is stored, the action is found only by its own id.
        return items.length === 0 ? [top] : items;
      },
    };
  }

  /** The group of an action, if any of its members is visible. */
  async find(actionId: ActionId): Promise<FeedGroup | null> {
    const [top] = await this.#members.load(actionId, ({ length }) => length > 0);
    return top === undefined ? null : this.groupOf(top, actionId);
  }

  #first(entry: FeedEntry): FeedEntry {
    const known = this.#entries.get(entry.actionId);
    if (known === undefined) this.#entries.set(entry.actionId, entry);
    return known ?? entry;
  }

  #keep(item: NewsfeedItem): void {
    if (item.action.groupKey === null) return;
    const { groupKey } = item.action;
    const entries = this.#ofGroup.get(groupKey);
    if (entries === undefined) this.#ofGroup.set(groupKey, [item]);
    else entries.push(item);
    this.#groupOf.set(item.actionId, groupKey);
  }

  async #find(ids: readonly ActionId[]): Promise<FeedEntry[]> {
    const known = ids.flatMap((id) => this.#entries.get(id) ?? []);
    const others = ids.filter((id) => !this.#entries.has(id));
    const found = others.length === 0 ? [] : await this.#core.feedReader.find(await this.#lookUp(), others);
    return [...known, ...found.filter((entry) => !this.#isInPart(entry)).map((entry) => this.#first(entry))];
  }

  #isInPart(position: FeedPosition): boolean {
    if (this.#part === null) return false;
    const { from, to } = this.#part;
    return (
      (from === null || compareFeedPositions(from, position) < 0) &&
      (to === null || compareFeedPositions(position, to) <= 0)
    );
  }

  /** No entry that this read does not have is above it. */
  #floor(): number {
    if (this.#part?.from !== null) return Infinity;
    return this.#part.to?.relevancy.getTime() ?? -Infinity;
  }

  /** Items that are the topmost visible ones of their group. */
  protected override async topmost(items: readonly NewsfeedItem[]): Promise<NewsfeedItem[]> {
    const tops = await Promise.all(
      items.map(async (item) => {
        if (item.action.groupKey === null) return item.actionId;
        const [top = item] = await this.#members.load(item.actionId, ({ length }) => length > 0);
        return top.actionId;
      }),
    );
    return items.filter(({ actionId }, index) => tops[index] === actionId);
  }
}

/** Groups on a page. */
export const GROUPS = { standard: 25, most: 50 } as const;

/**
 * A page of the reader's feed in groups. From the top it costs as much as a page of the feed with all of the groups' items.
 * The additional cost after a cursor, and of the items inside the groups, is described in `group-members.ts`.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readFeedGroups(
  core: Core,
  session: ReaderSession,
  args: PageArgs & { readonly filter?: FeedFilter | null | undefined },
): Promise<FeedGroupPage> {
  const size = pageSize(args.first, GROUPS);
  const { userId } = session.identity;
  const name = `groups:${userId}`;
  const cursor = args.after == null ? null : decodeGroups(name, args.after);
  const asOf = cursor?.asOf ?? clock.now();
  const filter = checkFeedFilter(args.filter);
  const feed = openStages(core, session, { filter, order: 'RELEVANCY' });
  const list = new GroupList(core, feed);
  // With another filter a group has other items: one that was listed with that filter can be listed again.
  const filtered = groupMark(name, JSON.stringify(filter));
  const listed = [...(cursor?.listed ?? [])];
  const before = new Set(listed);
  const wasListed = (groupKey: string): boolean => before.has(groupMark(filtered, groupKey));
  const page = await collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    size,
    after: cursor === null ? null : { relevancy: cursor.time, actionId: cursor.actionId },
    scan: (after, limit) => list.scan(after, limit),
    select: list.opening(cursor === null ? null : wasListed),
    cursorOf: ({ relevancy, actionId, action: { groupKey } }) => {
      if (groupKey !== null) listed.push(groupMark(filtered, groupKey));
      return encodeGroups(name, { time: relevancy, actionId, asOf, listed });
    },
  });
  const tops = page.edges.map(({ node }) => node);
  return {
    ...page,
    edges: page.edges.map(({ cursor: at, node }) => ({ cursor: at, node: list.groupOf(node) })),
    state: (await feed.lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
    countTotal: () => list.countTotal(tops),
    countUnread: () => list.countUnread(tops),
  };
}

/**
 * One group of the reader's feed; `null` when none of its items is in the feed. Groups that a session requests in one turn of
 * the event loop are read together, apart from one look-up for each key.
 */
export const getFeedGroup = sessionBatches<string, FeedGroup | null>(readGroupsByKey);

async function readGroupsByKey(
  core: Core,
  session: ReaderSession,
  wanted: readonly string[],
): Promise<(FeedGroup | null)[]> {
  const feed = openStages(core, session, { filter: checkFeedFilter(null), order: 'RELEVANCY' });
  const reader = await session.profile();
  const list = new GroupList(core, feed);
  const keys = [...new Set(wanted)];
  const shared = keys.filter((key) => !OBJECT_ID.test(key));
  const [members, items] = await Promise.all([
    Promise.all(shared.map((key) => core.actionGroups.anyOf(key))),
    core.feedReader
      .find(
        reader,
        keys.filter((key) => OBJECT_ID.test(key)),
      )
      .then((entries) => feed.show(entries)),
  ]);
  const groups = new Map<string, FeedGroup | null>();
  for (const item of items) if (item.action.groupKey === null) groups.set(item.actionId, list.groupOf(item));
  const found = await Promise.all(members.map(async (id) => (id === null ? null : list.find(id))));
  for (const [index, key] of shared.entries()) groups.set(key, found[index] ?? null);
  return wanted.map((groupKey) => groups.get(groupKey) ?? null);
}

const OBJECT_ID = /^[0-9a-f]{24}$/;
