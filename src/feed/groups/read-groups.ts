import type { Core } from '../../core/core.ts';
import {
  type FeedEntry,
  type FeedPosition,
  type NewsfeedItem,
  compareFeedPositions,
} from '../../domain/newsfeed-item.ts';
import { decodeGroups, encodeGroups, groupMark, positionAbove } from '../../domain/cursor.ts';
import type { ActionId } from '../../domain/action.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { sessionBatches } from '../session/session-batches.ts';
import type { FeedGroup, FeedGroupPage, Page, PageArgs, UnreadCount } from '../../core/shapes.ts';
import { checkFeedFilter, type CheckedFeedFilter } from '../page/filters.ts';
import type { FeedReads } from '../feed-reader.ts';
import { ListRead, type RecordedCore } from '../page/list-read.ts';
import { labelOf, nameOfList, openStages, type CountsAsked, type PageStages } from '../page/read-page.ts';
import { type AskedList, checkAskedList } from '../page/views.ts';
import { badInput } from '../../domain/errors.ts';
import type { Stretch } from '../../storage/documents/keyset.ts';
import { askedPage, collectPage } from '../page/paging.ts';
import { groupOf } from '../../descriptors/group-key.ts';
import { FeedList } from '../page/list.ts';
import { NOTHING_RETURNED, type Returned } from '../../domain/viewer.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { FirstMembers } from '../store/action-groups.ts';
import { gathered } from '../../lib/gathered.ts';

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
  readonly #lookUp: PageStages['lookUp'];
  readonly #members: GroupMembers;
  readonly #read: ListRead;
  /** It reads a page, and not single groups. */
  readonly #isOfPage: boolean;
  /** The first entry that was read of each action: this response shows no other. */
  readonly #entries: Map<ActionId, FeedEntry>;
  /** The visible entries of the part, unless it begins at the top. */
  readonly #shown: NewsfeedItem[] = [];
  #part: ReadPart | null = null;
  /** If the part begins at the top: so many entries it has. */
  #length = 0;

  constructor(read: ListRead, stages: PageStages, asked: CountsAsked | null) {
    const first = new Map<ActionId, FeedEntry>();
    super({
      ...stages,
      async skeleton(stretch) {
        const entries = await stages.skeleton(stretch);
        for (const entry of entries) if (!first.has(entry.actionId)) first.set(entry.actionId, entry);
        return entries;
      },
      keyOf: ({ action }) => groupOf(action),
      read,
      withUnread: asked?.withUnread,
      // Also without a total: of most feeds this is all, and nothing is left to ask of their groups.
      withTotal: true,
    });
    this.#read = read;
    this.#isOfPage = asked !== null;
    this.#lookUp = stages.lookUp;
    this.#entries = first;
    this.#members = new GroupMembers({
      core: read.core,
      returned: async () => (await stages.lookUp()).returned(),
      find: (ids, revs) => this.#find(ids, revs),
      select: (entries) => this.select(entries),
      known: (groupKeys) => this.#known(groupKeys),
      floor: () => this.#floor(),
    });
  }

  /** The next entries of the page. Must be called for one part of the feed, in order. */
  override async scan(stretch: Stretch<FeedPosition>): Promise<readonly FeedEntry[]> {
    const { from: after, limit } = stretch;
    const entries = await super.scan(stretch);
    if (stretch.isUp) {
      // It does not count as read from the top, even if it reaches there: what the groups have above it is looked up.
      const top = entries.at(-1);
      if (top !== undefined)
        this.#part = { from: above(top), to: this.#part === null ? (entries[0] ?? null) : this.#part.to };
      return entries;
    }
    const from = this.#part === null ? after : this.#part.from;
    // From the top, what was read for the counts belongs to it.
    const read = from === null ? this.read() : entries;
    this.#length = read.length;
    const isWhole = from === null ? this.isReadWhole : entries.length < limit && this.stop() === null;
    this.#part = { from, to: isWhole ? null : (this.stop() ?? read.at(-1) ?? null) };
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
    isUp: boolean,
  ): (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]> {
    const seen = new Set<string>();
    return async (entries) => {
      const visible = await this.select(entries);
      if (this.#part?.from !== null) this.#shown.push(...visible);
      // Upwards the topmost of a group comes last.
      const items = isUp ? visible : this.firstOfKeys(visible, seen);
      if (wasListed === null) return items;
      return this.topmost(items.filter(({ action }) => !wasListed(groupOf(action))));
    };
  }

  /** The group that an item opens. */
  groupOf(top: NewsfeedItem): FeedGroup {
    const groupKey = groupOf(top.action);
    const isAlone = top.action.groupKey === null;
    let loaded: readonly NewsfeedItem[] = [top];
    const ofGroup = (items: readonly NewsfeedItem[]): NewsfeedItem[] =>
      items.filter(({ action }) => groupOf(action) === groupKey);
    return {
      userId: top.userId,
      groupKey,
      relevancy: top.relevancy,
      isUnread: top.isUnread,
      load: async (isEnough) => {
        if (isAlone || isEnough([top])) return [top];
        const items = ofGroup(await this.#members.load(groupKey, (some) => isEnough(ofGroup(some))));
        if (items.length > loaded.length) loaded = items;
        // It may have been hidden meanwhile.
        return items.length === 0 ? [top] : items;
      },
      list: this.#read.list,
      version: () => (this.#isOfPage ? this.#read.version : null),
      actors: () => [...new Set(loaded.map(({ action }) => action.actorId))],
    };
  }

  /** The group with a key, if any of its members is visible. */
  async find(groupKey: string): Promise<FeedGroup | null> {
    const [top] = await this.#members.load(groupKey, ({ length }) => length > 0);
    return top === undefined ? null : this.groupOf(top);
  }

  #first(entry: FeedEntry): FeedEntry {
    const known = this.#entries.get(entry.actionId);
    if (known === undefined) this.#entries.set(entry.actionId, entry);
    return known ?? entry;
  }

  /** The items of the part in these groups. Only they are decided of what was read from the top. */
  async #known(groupKeys: ReadonlySet<string>): Promise<readonly NewsfeedItem[]> {
    // Nothing has been looked at if the process knew the page.
    if (this.#part === null && this.#isOfPage) await this.scan({ from: null, limit: 1, isUp: false });
    if (this.#part?.from !== null) return this.#shown;
    const read = this.read(0, this.#length);
    const open = read.filter((entry) => !this.isDecided(entry));
    if (open.length === 0) return this.select(read);
    const keys = await this.#read.core.actionGroups.keysOf(open);
    const isOfThem = ({ actionId }: FeedEntry): boolean => groupKeys.has(keys.get(actionId) ?? '');
    return this.select(read.filter((entry) => this.isDecided(entry) || isOfThem(entry)));
  }

  /** @param revs of the actions, where they are known */
  async #find(ids: readonly ActionId[], revs: ReadonlyMap<ActionId, number>): Promise<FeedEntry[]> {
    const known = ids.flatMap((id) => this.#entries.get(id) ?? []);
    const others = ids.filter((id) => !this.#entries.has(id));
    const found =
      others.length === 0 ? [] : await this.#read.core.feedReader.find(await this.#lookUp(), others);
    const below = found.filter((entry) => !this.#isInPart(entry));
    return [...known, ...below.map((entry) => this.#first(withRev(entry, revs.get(entry.actionId))))];
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
        const [top = item] = await this.#members.load(item.action.groupKey, ({ length }) => length > 0);
        return top.actionId;
      }),
    );
    return items.filter(({ actionId }, index) => tops[index] === actionId);
  }
}

/** A part that begins below this position begins with the entry. */
function above({ relevancy, actionId }: FeedEntry): FeedPosition {
  const { time, ...id } = positionAbove({ time: relevancy, actionId });
  return { relevancy: time, ...id };
}

function withRev(entry: FeedEntry, rev: number | undefined): FeedEntry {
  return rev === undefined ? entry : { ...entry, rev };
}

export const GROUPS = { standard: 25, most: 50 } as const;

/**
 * A page of the reader's feed in groups. From the top it costs as much as a page of 500 entries with all of the groups' items.
 * The additional cost after a cursor, and of the items inside the groups, is described below.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readFeedGroups(
  core: Core,
  session: ReaderSession,
  args: PageArgs & CountsAsked & AskedList,
): Promise<FeedGroupPage> {
  const { userId } = session.identity;
  const filter = checkAskedList(userId, args);
  core.onFeedRead(labelOf(filter.view));
  const { view } = filter;
  const order = view?.order ?? 'RELEVANCY';
  if (view !== null && order !== 'RELEVANCY')
    throw badInput(`The view ${view.name} is in the order ${order}: groups are in order of relevancy`, [
      'view',
    ]);
  const name = `groups:${nameOfList(userId, filter)}`;
  const asked = askedPage(args, (cursor) => decodeGroups(name, cursor), GROUPS);
  const { size, isUp, from: cursor } = asked;
  const read = new ListRead(core, session, JSON.stringify(['groups', filter.key]));
  const feed = openStages(read, { filter, order: 'RELEVANCY' });
  const list = new GroupList(read, feed, args);
  // With another filter a group has other items: one that was listed with that filter can be listed again.
  const filtered = groupMark(name, filter.key);
  const up = groupMark(filtered, '');
  // Those that were listed on the way up are below when one turns round, and the other way round.
  const isSameWay = cursor?.listed.includes(up) === isUp;
  const before = new Set(isSameWay ? cursor.listed : []);
  const wasListed = (groupKey: string): boolean => before.has(groupMark(filtered, groupKey));
  const make = (): Promise<Page<NewsfeedItem>> => {
    const listed = [...before].filter((mark) => mark !== up);
    const cursorOf = ({ relevancy, actionId }: FeedPosition): string =>
      encodeGroups(name, { time: relevancy, actionId, listed: isUp ? [...listed, up] : listed });
    return collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
      page: { ...asked, from: cursor && { relevancy: cursor.time, actionId: cursor.actionId } },
      scan: (stretch) => list.scan(stretch),
      select: list.opening(cursor === null && !isUp ? null : wasListed, isUp),
      cursorOf: (item) => {
        if (item.action.groupKey !== null) listed.push(groupMark(filtered, item.action.groupKey));
        return cursorOf(item);
      },
      extent: feed.extent,
      cursorAt: cursorOf,
    });
  };
  const page = cursor === null && !isUp ? await list.first(String(size), size + 1, make) : await make();
  const tops = page.edges.map(({ node }) => node);
  return {
    ...page,
    edges: page.edges.map(({ cursor: at, node }) => ({ cursor: at, node: list.groupOf(node) })),
    state: (await feed.lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
    countTotal: () => list.countTotal(tops),
    countUnread: () => list.countUnread(tops),
  };
}

/** The unread groups of a list, as its pages count them. */
export function countUnreadGroups(
  core: FeedReads,
  session: ReaderSession,
  filter: CheckedFeedFilter,
): Promise<UnreadCount> {
  const read = new ListRead(core, session, JSON.stringify(['groups', filter.key]));
  const stages = openStages(read, { filter, order: 'RELEVANCY' });
  return new GroupList(read, stages, { withUnread: true }).countUnread([]);
}

/**
 * One group of the reader's feed; `null` when none of its items is in the feed. Groups that a session requests in one turn of
 * the event loop are read together.
 */
export const getFeedGroup = sessionBatches<string, FeedGroup | null>(readGroupsByKey, (key) => key);

async function readGroupsByKey(
  core: Core,
  session: ReaderSession,
  keys: readonly string[],
): Promise<(FeedGroup | null)[]> {
  const read = new ListRead(core, session, '');
  const feed = openStages(read, { filter: checkFeedFilter(null), order: 'RELEVANCY' });
  const reader = await session.profile();
  const list = new GroupList(read, feed, null);
  const shared = keys.filter((key) => !OBJECT_ID.test(key));
  const [found, items] = await Promise.all([
    Promise.all(shared.map((key) => list.find(key))),
    core.feedReader
      .find(
        reader,
        keys.filter((key) => OBJECT_ID.test(key)),
      )
      .then((entries) => feed.show(entries)),
  ]);
  const groups = new Map<string, FeedGroup | null>();
  for (const item of items) if (item.action.groupKey === null) groups.set(item.actionId, list.groupOf(item));
  for (const [index, key] of shared.entries()) groups.set(key, found[index] ?? null);
  return keys.map((groupKey) => groups.get(groupKey) ?? null);
}

const OBJECT_ID = /^[0-9a-f]{24}$/;

/** Members per group in the first round, and the growth factor of each further round. */
const FIRST_ROUND = 50;
const GROWTH = 10;
const BATCH = 500;

interface GroupMembersOptions {
  readonly core: RecordedCore;
  /** Items that may be above the `latest` of their action because they came back later. */
  readonly returned: () => Promise<Returned>;
  readonly find: (
    actionIds: readonly ActionId[],
    revs: ReadonlyMap<ActionId, number>,
  ) => Promise<readonly FeedEntry[]>;
  /** Visible items that the page's read has, among them all those of these groups. */
  readonly known: (groupKeys: ReadonlySet<string>) => Promise<readonly NewsfeedItem[]>;
  /** Upper bound of the relevancy of entries that the page's read does not have; -Infinity when it has all. */
  readonly floor: () => number;
  /** The items that are visible and pass the filter, in the same order. */
  readonly select: (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
}

interface Wanted {
  readonly groupKey: string;
  /** Whether these visible items are enough. */
  readonly isEnough: (items: readonly NewsfeedItem[]) => boolean;
}

/**
 * The visible items of groups, in feed order. What the page's read has of a group comes first, without a query. All other
 * requests made in one turn of the event loop, up to 500, are read together, even when several fields request
 * the same group: one query for the groups, one for the reader's entries and one for the actions, repeated with ten times
 * as many members while that is not enough. Exact for any size: apart from items that came back, which are all read first, no
 * entry is above the `latest` of its action, so the order above the last action read is final. An entry that is found
 * above an item listed before was bumped meanwhile, and is left out, as on a later page of a feed.
 */
class GroupMembers {
  readonly #options: GroupMembersOptions;
  readonly #groups = new Map<string, Group>();
  /** One batch at a time: the members of a group must be decided in order. */
  readonly #ask = gathered((wanted: readonly Wanted[]) => this.#load(wanted), { most: BATCH });

  constructor(options: GroupMembersOptions) {
    this.#options = options;
  }

  /** The group's first items until there are enough, or all. */
  async load(groupKey: string, isEnough: Wanted['isEnough']): Promise<readonly NewsfeedItem[]> {
    await this.#ask({ groupKey, isEnough });
    return this.#group(groupKey).items;
  }

  /** Reads until every request has enough. */
  async #load(wanted: readonly Wanted[]): Promise<void> {
    const ofGroup = new Map<string, NewsfeedItem[]>();
    for (const { groupKey } of wanted) ofGroup.set(groupKey, []);
    for (const item of await this.#options.known(new Set(ofGroup.keys())))
      ofGroup.get(item.action.groupKey ?? '')?.push(item);
    for (const [groupKey, items] of ofGroup) this.#group(groupKey).addNew(items);
    for (;;) {
      const open = new Set<Group>();
      for (const { groupKey, isEnough } of wanted) {
        const group = this.#group(groupKey);
        if (!group.isOver && !isEnough(group.items)) open.add(group);
      }
      if (open.size === 0) return;
      await this.#decide([...open]);
      await this.#readOn([...open].filter((group) => group.isLookedThrough));
    }
  }

  #group(key: string): Group {
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = new Group(key, this.#options.floor)));
    return group;
  }

  /** Decides the next known entries of each group. */
  async #decide(groups: readonly Group[]): Promise<void> {
    const batches = groups.map((group) => ({ group, entries: group.nextBatch() }));
    const entries = batches.flatMap((batch) => batch.entries);
    if (entries.length === 0) return;
    const items = new Map((await this.#options.select(entries)).map((item) => [item.actionId, item]));
    for (const batch of batches)
      batch.group.items.push(...batch.entries.flatMap(({ actionId }) => items.get(actionId) ?? []));
  }

  async #readOn(groups: readonly Group[]): Promise<void> {
    const byLimit = new Map<number, Group[]>();
    for (const group of groups)
      if (!group.isRead) byLimit.set(group.limit, [...(byLimit.get(group.limit) ?? []), group]);
    const floor = this.#options.floor();
    // An action that was conducted later is above the floor in every feed that has it.
    const upTo = Number.isFinite(floor) ? new Date(floor + MAX_FUTURE_MS) : null;
    for (const [limit, some] of byLimit) {
      const found = await this.#options.core.actionGroups.newestOf(
        some.map(({ key }) => key),
        limit,
        upTo,
      );
      const back = await this.#backIn(some.filter((group) => !group.isBegun));
      const news = some.map((group) => ({
        group,
        ids: [...group.know(back.get(group.key) ?? []), ...group.readOn(found.get(group.key) ?? NO_MEMBERS)],
      }));
      const ids = news.flatMap((one) => one.ids);
      const revs = new Map(
        [...found.values()].flatMap(({ members }) =>
          members.map(({ actionId, rev }) => [actionId, rev] as const),
        ),
      );
      const entries = new Map<ActionId, FeedEntry>();
      for (let from = 0; from < ids.length; from += BATCH)
        for (const entry of await this.#options.find(ids.slice(from, from + BATCH), revs))
          entries.set(entry.actionId, entry);
      for (const one of news) one.group.add(one.ids.flatMap((id) => entries.get(id) ?? []));
    }
  }

  /** Members of these groups that came back: they may be above everything read by `latest`. */
  async #backIn(groups: readonly Group[]): Promise<ReadonlyMap<string, readonly ActionId[]>> {
    const { returned, core } = this.#options;
    const ended = groups.length === 0 ? NOTHING_RETURNED : await returned();
    const back = new Map<string, ActionId[]>(groups.map(({ key }) => [key, []]));
    if (ended.size === 0) return back;
    const keys = await core.actionGroups.keysOf(Array.from(ended.keys(), (actionId) => ({ actionId })));
    for (const [actionId, groupKey] of keys) back.get(groupKey)?.push(actionId);
    return back;
  }
}

const NO_MEMBERS: FirstMembers = { members: [], areAll: true };

class Group {
  readonly key: string;
  readonly #readFloor: () => number;
  /** Visible items in feed order. */
  readonly items: NewsfeedItem[] = [];
  limit = FIRST_ROUND;
  isBegun = false;
  readonly #ids = new Set<ActionId>();
  /** Entries in feed order that are not decided yet. */
  #entries: FeedEntry[] = [];
  /** The last entry that was decided. */
  #decided: FeedEntry | null = null;
  /** Upper bound of the relevancy of members that have not been read; -Infinity: all have been. */
  #floor = Infinity;
  #batchSize = 4;

  constructor(key: string, readFloor: () => number) {
    this.key = key;
    this.#readFloor = readFloor;
  }

  get isRead(): boolean {
    return this.#lowest === -Infinity;
  }

  get isOver(): boolean {
    return this.isRead && this.#entries.length === 0;
  }

  /** No known entry can be decided before more are read. */
  get isLookedThrough(): boolean {
    return this.#certain() === 0;
  }

  /** The next entries whose order is final. */
  nextBatch(): FeedEntry[] {
    const size = Math.min(this.#batchSize, this.#certain());
    this.#batchSize = Math.min(BATCH, this.#batchSize * 4);
    const batch = this.#entries.splice(0, size);
    this.#decided = batch.at(-1) ?? this.#decided;
    return batch;
  }

  /** Adds the first members of the group; returns those that are new. */
  readOn({ members, areAll }: FirstMembers): ActionId[] {
    const last = areAll ? undefined : members.at(-1);
    this.#floor = last?.latest.getTime() ?? -Infinity;
    this.limit *= GROWTH;
    this.isBegun = true;
    return this.know(members.map(({ actionId }) => actionId));
  }

  /** Returns the members that are new. */
  know(ids: readonly ActionId[]): ActionId[] {
    const news = ids.filter((id) => !this.#ids.has(id));
    for (const id of news) this.#ids.add(id);
    return news;
  }

  add(entries: readonly FeedEntry[]): void {
    const decided = this.#decided;
    const below =
      decided === null ? entries : entries.filter((entry) => compareFeedPositions(decided, entry) < 0);
    this.#entries = [...this.#entries, ...below].sort(compareFeedPositions);
  }

  /** Adds those that were not known. */
  addNew(entries: readonly FeedEntry[]): void {
    const news = new Set(this.know(entries.map(({ actionId }) => actionId)));
    if (news.size > 0) this.add(entries.filter(({ actionId }) => news.has(actionId)));
  }

  get #lowest(): number {
    return Math.min(this.#floor, this.#readFloor());
  }

  #certain(): number {
    const floor = this.#lowest;
    const uncertain = this.#entries.findIndex(({ relevancy }) => relevancy.getTime() <= floor);
    return uncertain === -1 ? this.#entries.length : uncertain;
  }
}
