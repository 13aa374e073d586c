import { notificationsOf } from './store/notifications.ts';
import type { Core } from '../../../src/core/core.ts';
import { announceOwnMarks } from '../../../src/feed/announce.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { CHANNELS } from '../../../src/domain/notification.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { clock } from '../../../src/lib/clock.ts';
import { findNotifications } from './read-notifications.ts';

/** Marks everything up to a time as seen. Never moves back, and never beyond now. */
export async function markNotificationsSeen(core: Core, session: ReaderSession, upTo: Date): Promise<void> {
  const { userId } = session.identity;
  await notificationsOf(core).markSeen(userId, notAfterNow(upTo));
  await announceOwnMarks(core, userId);
}

/** Upper bound on groups that are marked in one call. */
export const MAX_MARKED = 100;

/**
 * Marks everything up to a time as read, or single groups up to the newest event that they have now. A newer one makes a group
 * unread again.
 * @throws FanfareError BAD_USER_INPUT
 */
export async function markNotificationsRead(
  core: Core,
  session: ReaderSession,
  { upTo, keys }: { readonly upTo: Date | null; readonly keys: readonly string[] },
): Promise<void> {
  const { userId } = session.identity;
  if (keys.length > MAX_MARKED)
    throw new FanfareError('BAD_USER_INPUT', `At most ${String(MAX_MARKED)} ids, got ${String(keys.length)}`);
  if (upTo !== null) await notificationsOf(core).markRead(userId, notAfterNow(upTo));
  if (keys.length > 0) {
    const found = await findNotifications(core, session, [...new Set(keys)], CHANNELS);
    const places = found.flatMap((one) => (one === null ? [] : [one.group]));
    for (const { at } of places) clock.mark(at);
    if (places.length > 0) await notificationsOf(core).markGroupsRead(userId, places, clock.now());
  }
  await announceOwnMarks(core, userId);
}

function notAfterNow(time: Date): Date {
  return clock.mark(new Date(Math.min(time.getTime(), clock.time())));
}
