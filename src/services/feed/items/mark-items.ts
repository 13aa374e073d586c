import type { ActionId } from '../../../domain/action.ts';
import { badInput, FanfareError } from '../../../domain/errors.ts';
import { announceListChange } from '../../../realtime/announce.ts';
import { requireAction } from '../read-actions.ts';
import type { ReaderSession } from '../../session/reader-session.ts';
import { clock } from '../../../lib/clock.ts';
import type { ReadingDependencies } from '../../service-parts.ts';

export const MAX_MARKED_AT_ONCE = 100;
/** Most items of one reader that are marked as unread: every count looks at them. Two at once may exceed it. */
export const MAX_MARKED_UNREAD = 1_000;

/**
 * Marks items as read, whatever has been read besides. One that is bumped later is unread again.
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND when the reader may not see one of them: then none is marked.
 */
export async function markItemsRead(
  dependencies: ReadingDependencies,
  session: ReaderSession,
  actionIds: readonly ActionId[],
): Promise<void> {
  const { userId } = session.identity;
  const ids = await requireActions(session, actionIds);
  await dependencies.feeds.markHasMarks(userId);
  await dependencies.itemMarks.markRead(userId, ids, clock.now());
  await announceListChange(dependencies, [userId], 'marks');
}

/** Until marked as read one by one. @throws FanfareError BAD_USER_INPUT, NOT_FOUND, CONFLICT: then none is marked. */
export async function markItemsUnread(
  dependencies: ReadingDependencies,
  session: ReaderSession,
  actionIds: readonly ActionId[],
): Promise<void> {
  const { userId } = session.identity;
  const ids = await requireActions(session, actionIds);
  const all = new Set([...(await dependencies.itemMarks.unread(userId)), ...ids]);
  if (all.size > MAX_MARKED_UNREAD)
    throw new FanfareError(
      'CONFLICT',
      `No more than ${String(MAX_MARKED_UNREAD)} items can be marked as unread`,
    );
  await dependencies.feeds.markHasMarks(userId, { hasUnreadMarks: true });
  await dependencies.itemMarks.markUnread(userId, ids);
  await announceListChange(dependencies, [userId], 'marks');
}

/** Each once. Takes the same work for one that may not be seen as for one that is not there. */
async function requireActions(session: ReaderSession, actionIds: readonly ActionId[]): Promise<ActionId[]> {
  const ids = [...new Set(actionIds)];
  if (actionIds.length < 1 || actionIds.length > MAX_MARKED_AT_ONCE)
    throw badInput(
      `Must have from 1 to ${String(MAX_MARKED_AT_ONCE)} entries, got ${String(actionIds.length)}`,
      ['actionIds'],
    );
  await Promise.all(ids.map((id) => requireAction(session, id)));
  return ids;
}
