import type { ActionId, UserId } from '../domain/action.ts';
import type { EntryEvent, ListChange, LiveEvent, LiveLog } from './live-log.ts';

export interface AnnounceDependencies {
  readonly liveLog: Pick<LiveLog, 'append' | 'forget' | 'watched'>;
  /** The live log could not be reached; watchers will be told to resynchronise. */
  readonly onLiveLogError: (error: unknown) => void;
}

export interface Announcement {
  readonly userId: UserId;
  readonly event: LiveEvent;
}

/**
 * Tells those readers who are watching. Comes after the feed has been written, so that who begins to watch in between
 * finds the change in the feed. A live log that does not answer holds no delivery up.
 *
 * @param areWatching all of them were a moment ago, so that it is not worth asking: what is appended for who has left
 * meanwhile goes nowhere.
 */
export async function announce(
  { liveLog, onLiveLogError }: AnnounceDependencies,
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
 * Tells readers who are watching that they may have missed something. For work that was cut off and is done again: what
 * was written before looks as if it had been there all the time, and is not announced any more.
 */
export async function resynchronise(
  { liveLog, onLiveLogError }: AnnounceDependencies,
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

/** The lists of these readers have changed in a way that cannot be told item by item. Comes after the change was written. */
export function announceListChange(
  dependencies: AnnounceDependencies,
  userIds: readonly UserId[],
  change: ListChange,
): Promise<void> {
  return announce(
    dependencies,
    userIds.map((userId) => ({ userId, event: { kind: 'list', change } })),
  );
}
