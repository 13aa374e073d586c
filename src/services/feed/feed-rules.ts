import { isMutedAction, type MutableAction } from '../../descriptors/muted-action.ts';
import type { Action } from '../../domain/action.ts';
import type { WithheldReason } from '../../domain/explanation.ts';
import { isUnreadItem, type ItemMark, type ItemState } from '../../domain/item-mark.ts';
import type { DeliveryReason, FeedEntry, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { currentReasons, isPulledFor } from '../../domain/visibility.ts';
import type { Follow, ReaderProfile } from '../../domain/viewer.ts';

/** What the rules are decided from, besides the reader. */
export interface EntryFacts {
  readonly entry: FeedEntry;
  readonly action: Action | null;
  readonly mark: ItemMark | null;
  /** The reader's follows of the action's refs; null: not asked for, since a delivered follow is known to stand. */
  readonly follows: readonly Follow[] | null;
}

export interface VisibleEntry {
  readonly entry: FeedEntry;
  readonly action: Action;
  readonly mark: ItemMark | null;
  /** Why its reader has it, as of now. */
  readonly reasons: readonly DeliveryReason[];
}

/**
 * What keeps an entry out of a list, whatever it is there for. Pure, as is what follows: decided from the action as it is
 * now.
 * @param state the list: that of what the reader put into this state, or the feed.
 */
export function withheldBy(
  reader: ReaderProfile,
  {
    action,
    mark,
  }: { readonly action: MutableAction & Pick<Action, 'isHidden'>; readonly mark: ItemMark | null },
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
 * The rules: an entry that its reader may be shown, or null when they may not, whatever the stored feed says.
 * @param state the list: that of what the reader put into this state, or the feed.
 */
export function passRules(
  reader: ReaderProfile,
  { entry, action, mark, follows }: EntryFacts,
  state: ItemState | null = null,
): VisibleEntry | null {
  if (action === null || action.isDeleted || (mark?.state ?? null) !== state) return null;
  if (withheldBy(reader, { action, mark }, state).length > 0) return null;
  // What is pulled for the reader comes from the source, with its relevancy of now; a stored entry would be a second one.
  if (!entry.reasons.includes('PULL') && isPulledFor(reader, action)) return null;
  const reasons = currentReasons(reader, action, entry.reasons, follows);
  return reasons.length === 0 ? null : { entry, action, mark, reasons };
}

/** The presentation: a visible entry as the item that its reader is shown. */
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

/** Rules and presentation of a single entry. */
export function presentEntry(
  reader: ReaderProfile,
  facts: EntryFacts,
  state: ItemState | null = null,
): NewsfeedItem | null {
  const visible = passRules(reader, facts, state);
  return visible === null ? null : toItem(reader, visible, state);
}

/** Above everything the reader has read. A bumped entry rises above it again. */
export function isAboveRead(reader: ReaderProfile, entry: Pick<FeedEntry, 'relevancy'>): boolean {
  return reader.lastRead === null || entry.relevancy.getTime() > reader.lastRead.getTime();
}
