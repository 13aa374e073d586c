import { isMutedAction, type MutableAction } from '../../descriptors/muted-action.ts';
import type { Action } from '../../domain/action.ts';
import type { WithheldReason } from '../../domain/explanation.ts';
import {
  isUnreadItem,
  type ItemMark,
  type ItemState,
  type DeliveryReason,
  type FeedEntry,
  type NewsfeedItem,
} from '../../domain/newsfeed-item.ts';
import { currentReasons, isPulledFor } from '../../domain/visibility.ts';
import type { Follow, ReaderProfile } from '../../domain/viewer.ts';

/** Everything the rules need besides the reader. */
export interface EntryFacts {
  readonly entry: FeedEntry;
  readonly action: Action | null;
  readonly mark: ItemMark | null;
  /** The reader's follows of the action's refs; `null`: not loaded, because the stored reason can be trusted. */
  readonly follows: readonly Follow[] | null;
}

export interface VisibleEntry {
  readonly entry: FeedEntry;
  readonly action: Action;
  readonly mark: ItemMark | null;
  /** Current reasons for the reader to have it. */
  readonly reasons: readonly DeliveryReason[];
}

/**
 * Why an entry is kept out of a list, independent of the reasons for it. A pure function of the action's current state, like
 * the functions below.
 * @param state the list: items in this state, or the feed when `null`.
 */
export function withheldBy(
  reader: ReaderProfile,
  {
    action,
    mark,
  }: { readonly action: MutableAction & { readonly isHidden: boolean }; readonly mark: ItemMark | null },
  state: ItemState | null = null,
): WithheldReason[] {
  const reasons: WithheldReason[] = [];
  if (action.isHidden) reasons.push('HIDDEN');
  if (isMutedAction(reader.mutes, action)) reasons.push('MUTED');
  const own = mark?.state ?? null;
  if (own !== null && own !== state) reasons.push(own === 'HIDDEN' ? 'HIDDEN_BY_READER' : own);
  return reasons;
}

/**
 * Applies the rules: the visible entry, or `null` when the reader may not see it, whatever the stored feed says.
 * @param state the list: items in this state, or the feed when `null`.
 */
export function passRules(
  reader: ReaderProfile,
  { entry, action, mark, follows }: EntryFacts,
  state: ItemState | null = null,
): VisibleEntry | null {
  if (action === null || action.isDeleted || (mark?.state ?? null) !== state) return null;
  if (withheldBy(reader, { action, mark }, state).length > 0) return null;
  // A pulled action is read from the source with its current relevancy; the stored entry would be a duplicate.
  if (!entry.reasons.includes('PULL') && isPulledFor(reader, action)) return null;
  const reasons = currentReasons(reader, action, entry.reasons, follows);
  return reasons.length === 0 ? null : { entry, action, mark, reasons };
}

/** Presentation: turns a visible entry into the item shown to the reader. */
export function toItem(
  reader: ReaderProfile,
  { entry, action, mark, reasons }: VisibleEntry,
  state: ItemState | null = null,
): NewsfeedItem {
  return {
    userId: reader.userId,
    actionId: entry.actionId,
    relevancy: entry.relevancy,
    reasons,
    action,
    isUnread: isUnreadItem(reader.lastRead, mark, entry.relevancy),
    isArchived: state === 'ARCHIVED',
    snoozedUntil: state === 'SNOOZED' ? (mark?.snooze?.until ?? null) : null,
  };
}

/** Rules and presentation for a single entry. */
export function presentEntry(
  reader: ReaderProfile,
  facts: EntryFacts,
  state: ItemState | null = null,
): NewsfeedItem | null {
  const visible = passRules(reader, facts, state);
  return visible === null ? null : toItem(reader, visible, state);
}

/** Newer than everything the reader has read. A bump raises a read entry above the mark again. */
export function isAboveRead(reader: ReaderProfile, entry: FeedEntry): boolean {
  return reader.lastRead === null || entry.relevancy.getTime() > reader.lastRead.getTime();
}
