import type { ActionId } from '../../../domain/action.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../../domain/newsfeed-item.ts';
import { groupOf } from '../../../descriptors/group-key.ts';
import type { Count, FeedGroup, UnreadCount } from '../../shapes.ts';
import { MAX_UNREAD, type FeedScanOptions } from '../feed-scan.ts';
import { GroupMembers, type GroupMembersOptions } from './group-members.ts';
import { ListScan, MAX_BITE, MAX_TOTAL } from '../list-scan.ts';

export type GroupScanOptions = Omit<FeedScanOptions, 'withUnread'> & Omit<GroupMembersOptions, 'select'>;

/** One grouped read of a feed: page, total and unread count. A group is represented by its topmost visible item. */
export class GroupScan {
  readonly #options: GroupScanOptions;
  readonly #list: ListScan<FeedPosition, FeedEntry, NewsfeedItem>;
  readonly #members: GroupMembers;

  constructor(options: GroupScanOptions) {
    this.#options = options;
    this.#list = new ListScan({
      scan: options.scan,
      select: options.select,
      idOf: ({ actionId }) => actionId,
      isAt: (entry, { relevancy }) => entry.relevancy.getTime() === relevancy.getTime(),
    });
    const { actionGroups, find, endedSnoozes } = options;
    const select = (entries: readonly FeedEntry[]): Promise<NewsfeedItem[]> => this.#list.select(entries);
    this.#members = new GroupMembers({ actionGroups, find, endedSnoozes, select });
  }

  scan(after: FeedPosition | null, limit: number): Promise<readonly FeedEntry[]> {
    return this.#list.scan(after, limit);
  }

  /**
   * Filters entries down to those that open their groups, keeping the order. Must then be called for all following entries
   * in order.
   * @param isFromTop all entries above have been passed in before.
   */
  opening(isFromTop: boolean): (entries: readonly FeedEntry[]) => Promise<readonly NewsfeedItem[]> {
    const seen = new Set<string>();
    return async (entries) => {
      const items = firstOfGroups(await this.#list.select(entries), seen);
      return isFromTop ? items : this.#topmost(items);
    };
  }

  /** The group that an item opens. */
  groupOf(top: NewsfeedItem): FeedGroup {
    const isAlone = top.action.groupKey === null;
    return {
      userId: top.userId,
      groupKey: groupOf(top.action),
      relevancy: top.relevancy,
      isUnread: top.isUnread,
      load: async (isEnough) => {
        if (isAlone || isEnough([top])) return [top];
        const items = await this.#members.load(top.actionId, isEnough);
        // Until the group key is stored, the action is found only by its own id.
        return items.length === 0 ? [top] : items;
      },
    };
  }

  /** The group of an action, if any of its members is visible. */
  async find(actionId: ActionId): Promise<FeedGroup | null> {
    const [top] = await this.#members.load(actionId, ({ length }) => length > 0);
    return top === undefined ? null : this.groupOf(top);
  }

  async countTotal(page: readonly FeedGroup[]): Promise<Count> {
    const keys = new Set(page.map(({ groupKey }) => groupKey));
    for (let looked = 0; keys.size <= MAX_TOTAL; looked += MAX_BITE) {
      await this.#list.readUpTo(looked + MAX_BITE);
      const next = this.#list.read(looked, looked + MAX_BITE);
      for (const { action } of await this.#list.select(next)) keys.add(groupOf(action));
      if (next.length < MAX_BITE) break;
    }
    return { count: Math.min(keys.size, MAX_TOTAL), isExact: keys.size <= MAX_TOTAL };
  }

  /** Groups whose topmost item is unread. The page's groups are counted even beyond the counted part. */
  async countUnread(page: readonly FeedGroup[]): Promise<UnreadCount> {
    const unread = new Set(page.filter(({ isUnread }) => isUnread).map(({ groupKey }) => groupKey));
    const seen = new Set<string>();
    const add = (items: readonly NewsfeedItem[]): void => {
      for (const { action, isUnread } of items) if (isUnread) unread.add(groupOf(action));
    };
    for (let looked = 0; unread.size <= MAX_UNREAD; looked += MAX_BITE) {
      await this.#list.readUpTo(looked + MAX_BITE);
      const above = await this.#aboveRead(this.#list.read(looked, looked + MAX_BITE));
      add(firstOfGroups(await this.#list.select(above), seen));
      if (above.length < MAX_BITE) break;
    }
    if (unread.size <= MAX_UNREAD) {
      const below = await this.#list.select(await this.#options.unreadBelow());
      add(await this.#topmost(firstOfGroups(below, seen)));
    }
    return { count: Math.min(unread.size, MAX_UNREAD), isExact: unread.size <= MAX_UNREAD };
  }

  /** Items that are the topmost visible ones of their group. */
  async #topmost(items: readonly NewsfeedItem[]): Promise<NewsfeedItem[]> {
    const tops = await Promise.all(
      items.map(async (item) => {
        if (item.action.groupKey === null) return item.actionId;
        const [top = item] = await this.#members.load(item.actionId, ({ length }) => length > 0);
        return top.actionId;
      }),
    );
    return items.filter(({ actionId }, index) => tops[index] === actionId);
  }

  async #aboveRead(entries: readonly FeedEntry[]): Promise<FeedEntry[]> {
    const above: FeedEntry[] = [];
    for (const entry of entries) {
      if (!(await this.#options.isAboveRead(entry))) break;
      above.push(entry);
    }
    return above;
  }
}

/** Items whose groups have not occurred yet. */
function firstOfGroups(items: readonly NewsfeedItem[], seen: Set<string>): NewsfeedItem[] {
  return items.filter(({ action }) => {
    const key = groupOf(action);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
