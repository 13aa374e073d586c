import type { FeedFilter } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import type { Actions, Gone } from './actions.ts';
import type { Entry } from './item-list.ts';
import type { ReadMark } from './feed-options.ts';

/** What a list shows of its entries: with the reader's own writes and marks, without what they have put aside. */
export class ShownItems {
  readonly #actions: Actions;
  readonly #from: Gone;
  #marks: ReadMark[] = [];

  constructor(actions: Actions, { archived = false, snoozed = false }: FeedFilter = {}) {
    this.#actions = actions;
    this.#from = archived ? 'archived' : snoozed ? 'snoozed' : 'feed';
  }

  /**
   * A second call with the same takes it back. Confirmed marks of single items that follow each other become one: reading on
   * makes thousands.
   */
  toggleMark(mark: ReadMark): void {
    const marks = new Set(this.#marks);
    if (!marks.delete(mark)) marks.add(mark);
    this.#marks = [];
    for (let one of marks) {
      const last = this.#marks.at(-1);
      if (last?.isConfirmed && last.items && one.isConfirmed && one.items) {
        one = { ...one, items: new Map([...last.items, ...one.items]) };
        this.#marks.pop();
      }
      this.#marks.push(one);
    }
  }

  /** An event has it as it is now: what was marked and confirmed before, here, says nothing any more. */
  settleMarks(actionId: string): void {
    for (const { items, isConfirmed } of this.#marks) if (isConfirmed) items?.delete(actionId);
  }

  /** Call it before the list is read again, and what it returns with the answer: that has the marks the server had. */
  expectMarks(): () => void {
    const confirmed = this.#marks.filter(({ isConfirmed }) => isConfirmed);
    return () => {
      this.#marks = this.#marks.filter((mark) => !confirmed.includes(mark));
    };
  }

  /** @returns `before`, when nothing of it has changed */
  of(entries: readonly Entry<FanfareItem>[], before: readonly FanfareItem[]): readonly FanfareItem[] {
    const items: FanfareItem[] = [];
    // One loop: a list may have thousands, and each like and each event comes here.
    for (const entry of entries)
      if (!this.#actions.isGone(entry.item.action.id, this.#from)) items.push(this.#compose(entry));
    return items.length === before.length && items.every((item, at) => item === before[at]) ? before : items;
  }

  /** The same object as long as nothing of it changes. */
  #compose(entry: Entry<FanfareItem>): FanfareItem {
    const action = this.#actions.get(entry.item.action.id) ?? entry.item.action;
    let { isUnread } = entry.item;
    for (const { items, upTo = '' } of this.#marks) {
      const [until, isRead] = items?.get(action.id) ?? [upTo, true];
      if (entry.item.relevancy <= until) isUnread = !isRead;
    }
    const last = entry.shown;
    if (last?.action === action && last.isUnread === isUnread) return last;
    return (entry.shown = { ...entry.item, action, isUnread });
  }
}
