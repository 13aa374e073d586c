import type { Core } from '../core.ts';
import { announceOwnMarks } from './announce-notifications.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { clock } from '../../lib/clock.ts';

/** Marks everything up to a time as seen. Never moves back, and never beyond now. */
export async function markNotificationsSeen(core: Core, session: ReaderSession, upTo: Date): Promise<void> {
  const { userId } = session.identity;
  await core.notifications.markSeen(userId, notAfterNow(upTo));
  await announceOwnMarks(core, userId);
}

/** Upper bound on groups that are marked in one call. */
export const MAX_MARKED = 100;

/**
 * Marks everything up to a time as read, or single groups as they are now. A new event makes a group unread again.
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
  if (upTo !== null) await core.notifications.markRead(userId, notAfterNow(upTo));
  if (keys.length > 0) await core.notifications.markGroupsRead(userId, [...new Set(keys)], clock.now());
  await announceOwnMarks(core, userId);
}

function notAfterNow(time: Date): Date {
  return new Date(Math.min(time.getTime(), clock.time()));
}
