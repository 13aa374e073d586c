import type { ActionId } from '../../domain/action.ts';
import { compareFeedPositions, type FeedEntry, type NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { NO_SNOOZES, type EndedSnoozes } from '../../domain/viewer.ts';
import type { ActionGroupsRepository } from '../store/action-groups.ts';
import { batched } from '../session/open-session.ts';

/** Members per group in the first round, and the growth factor of each further round. */
const FIRST_ROUND = 50;
const GROWTH = 10;
const BATCH = 500;
const MAX_GROUPS = 100;

interface GroupMembersOptions {
  readonly actionGroups: ActionGroupsRepository;
  /** Items that may be above the `latest` of their action because a snooze ended later. */
  readonly endedSnoozes: () => Promise<EndedSnoozes>;
  readonly find: (actionIds: readonly ActionId[]) => Promise<readonly FeedEntry[]>;
  /** What the page's read has of the group of this action. */
  readonly known: (actionId: ActionId) => readonly FeedEntry[];
  /** Upper bound of the relevancy of entries that the page's read does not have; -Infinity when it has all. */
  readonly floor: () => number;
  /** The items that are visible and pass the filter, in the same order. */
  readonly select: (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]>;
}

interface Wanted {
  readonly actionId: ActionId;
  /** Whether these visible items are enough. */
  readonly isEnough: (items: readonly NewsfeedItem[]) => boolean;
}

/**
 * The visible items of groups, in feed order. What the page's read has of a group comes first, without a query. All other
 * requests made in one turn of the event loop, for up to 100 groups, are read together, even when several fields request
 * the same group: one query for the groups, one for the reader's entries and one for the actions, repeated with ten times
 * as many members while that is not enough. Exact for any size: apart from ended snoozes, which are all read first, no
 * entry is above the `latest` of its action, so the order above the last action read is final. An entry that is found
 * above an item listed before was bumped meanwhile, and is left out, as on a later page of a feed.
 */
export class GroupMembers {
  readonly #options: GroupMembersOptions;
  readonly #groups = new Map<ActionId, Group>();
  readonly #ask: (wanted: Wanted) => Promise<readonly NewsfeedItem[]>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: GroupMembersOptions) {
    this.#options = options;
    // One batch at a time: the members of a group must be decided in order.
    this.#ask = batched((wanted) => this.#inTurn(wanted), Infinity);
  }

  /** The group's first items until there are enough, or all. Empty for an action without a group. */
  load(actionId: ActionId, isEnough: Wanted['isEnough']): Promise<readonly NewsfeedItem[]> {
    return this.#ask({ actionId, isEnough });
  }

  #inTurn(wanted: readonly Wanted[]): Promise<(readonly NewsfeedItem[])[]> {
    const loading = Promise.allSettled([this.#last]).then(async () => {
      const groups = [...new Set(wanted.map(({ actionId }) => actionId))];
      for (let from = 0; from < groups.length; from += MAX_GROUPS) {
        const some = new Set(groups.slice(from, from + MAX_GROUPS));
        await this.#load(wanted.filter(({ actionId }) => some.has(actionId)));
      }
      return wanted.map(({ actionId }) => this.#group(actionId).items);
    });
    this.#last = loading;
    return loading;
  }

  /** Reads until every request has enough. */
  async #load(wanted: readonly Wanted[]): Promise<void> {
    for (const { actionId } of wanted) this.#group(actionId).addNew(this.#options.known(actionId));
    for (;;) {
      const open = new Set<Group>();
      for (const { actionId, isEnough } of wanted) {
        const group = this.#group(actionId);
        if (!group.isOver && !isEnough(group.items)) open.add(group);
      }
      if (open.size === 0) return;
      await this.#decide([...open]);
      await this.#readOn([...open].filter((group) => group.isLookedThrough));
    }
  }

  #group(actionId: ActionId): Group {
    let group = this.#groups.get(actionId);
    if (group === undefined) this.#groups.set(actionId, (group = new Group(actionId, this.#options.floor)));
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
    for (const [limit, some] of byLimit) {
      const found = await this.#options.actionGroups.newestOf(
        some.map(({ actionId }) => actionId),
        limit,
      );
      const back = await this.#backIn(some.filter((group) => !group.isBegun));
      const news = some.map((group) => ({
        group,
        ids: [
          ...group.know(back.get(group.actionId) ?? []),
          ...group.readOn(found.get(group.actionId) ?? []),
        ],
      }));
      const ids = news.flatMap((one) => one.ids);
      const entries = new Map<ActionId, FeedEntry>();
      for (let from = 0; from < ids.length; from += BATCH)
        for (const entry of await this.#options.find(ids.slice(from, from + BATCH)))
          entries.set(entry.actionId, entry);
      for (const one of news) one.group.add(one.ids.flatMap((id) => entries.get(id) ?? []));
    }
  }

  /** Members of these groups whose snooze has ended: they may be above everything read by `latest`. */
  async #backIn(groups: readonly Group[]): Promise<ReadonlyMap<ActionId, readonly ActionId[]>> {
    const { endedSnoozes, actionGroups } = this.#options;
    const ended = groups.length === 0 ? NO_SNOOZES : await endedSnoozes();
    if (ended.size === 0) return new Map();
    return actionGroups.sharing(
      groups.map(({ actionId }) => actionId),
      [...ended.keys()],
    );
  }
}

class Group {
  readonly actionId: ActionId;
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

  constructor(actionId: ActionId, readFloor: () => number) {
    this.actionId = actionId;
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
  readOn(members: readonly { readonly actionId: ActionId; readonly latest: Date }[]): ActionId[] {
    const last = members.length < this.limit ? undefined : members.at(-1);
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
