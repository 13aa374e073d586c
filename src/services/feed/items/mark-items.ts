import type { ActionId } from '../../../domain/action.ts';
import { badInput, FanfareError } from '../../../domain/errors.ts';
import { announceListChange } from '../../../realtime/announce.ts';
import { requireAction } from '../read-actions.ts';
import type { ReaderSession } from '../../session/reader-session.ts';
import { clock } from '../../../lib/clock.ts';
import type { ReadingDependencies } from '../../service-parts.ts';

export const MAX_MARKED_AT_ONCE = 100;
/** Upper bound on items marked unread: every count reads them all. Concurrent calls may exceed it. */
export const MAX_MARKED_UNREAD = 1_000;

/**
 * Marks items as read, independent of the read mark. A later bump makes an item unread again.
 * @throws FanfareError BAD_USER_INPUT; NOT_FOUND when one of them is not visible, and then none is marked.
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

/**
 * Items stay unread until marked read individually.
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND, CONFLICT: none is marked.
 */
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

/** Deduplicates. Costs the same for invisible and for missing actions. */
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
