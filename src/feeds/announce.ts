import type { Context } from './context.ts';
import type { ActionId, UserId } from '../domain/action.ts';
import type { FeedEntry } from '../domain/newsfeed-item.ts';
import {
  LiveLogUnavailable,
  type EntryEvent,
  type ListChange,
  type LiveEvent,
} from '../realtime/live-log.ts';

export interface Announcement {
  readonly userId: UserId;
  readonly event: LiveEvent;
}

/**
 * Notifies watching readers. Called after the feed was written, so that a reader who starts to watch in between finds the
 * change in the feed. A live log that does not answer does not delay deliveries.
 *
 * @param areWatching all of them were watching a moment ago, so presence is not checked again: events for readers who have
 * left meanwhile are discarded.
 */
export async function announce(
  { liveLog, onLiveLogError }: Context,
  announcements: readonly Announcement[],
  { areWatching = false }: { readonly areWatching?: boolean } = {},
): Promise<void> {
  if (announcements.length === 0) return;
  try {
    if (areWatching) {
      await liveLog.append(announcements);
      return;
    }
    const watched = new Set(
      await liveLog.watched([...new Set(announcements.map((announcement) => announcement.userId))]),
    );
    if (watched.size > 0)
      await liveLog.append(announcements.filter((announcement) => watched.has(announcement.userId)));
  } catch (error) {
    onLiveLogError(error);
  }
}

/**
 * For notifications that also read the database: reports an error of the live log, which asks watchers to resync as soon as
 * it can be reached.
 * @throws any other error: nothing else would notify the watchers
 */
export function surviveLiveLog(error: unknown, onLiveLogError: (error: unknown) => void): void {
  if (!(error instanceof LiveLogUnavailable)) throw error;
  onLiveLogError(error);
}

/**
 * Notifies watching readers that they may have missed something. For interrupted work that is repeated: earlier writes look
 * as if they had always been there and are not announced any more.
 */
export async function resynchronise(
  { liveLog, onLiveLogError }: Context,
  userIds: Iterable<UserId>,
): Promise<void> {
  try {
    for (const userId of userIds) await liveLog.forget(userId);
  } catch (error) {
    onLiveLogError(error);
  }
}

export function removals(actionId: ActionId, userIds: readonly UserId[], at: Date): Announcement[] {
  const event: EntryEvent = { kind: 'removed', actionId, relevancy: at, reasons: [] };
  return userIds.map((userId) => ({ userId, event }));
}

/** Items of the reader's feed that look different to them now. */
export function updates(userId: UserId, entries: readonly FeedEntry[]): Announcement[] {
  return entries.map((entry) => ({ userId, event: { kind: 'updated', ...entry } }));
}

/** These readers' lists changed in a way that cannot be reported item by item. Called after the change was written. */
export function announceListChange(
  context: Context,
  userIds: readonly UserId[],
  change: ListChange,
): Promise<void> {
  return announce(
    context,
    userIds.map((userId) => ({ userId, event: { kind: 'list', change } })),
  );
}
