import type { Core } from '../core.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { announce, updates } from '../../feed/announce.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';

export const MAX_MARKED_AT_ONCE = 100;
/** Upper bound on items marked unread: every count reads them all. Concurrent calls may exceed it. */
export const MAX_MARKED_UNREAD = 1_000;

/**
 * Marks items as read where they stand, independent of the read mark: a bump makes an item unread again, however old it is.
 * Of an action that is not in the feed, all that has boosted it so far is read.
 * @throws FanfareError BAD_USER_INPUT; NOT_FOUND when one of them is not visible, and then none is marked.
 */
export async function markItemsRead(
  core: Core,
  session: ReaderSession,
  actionIds: readonly ActionId[],
): Promise<void> {
  const { userId } = session.identity;
  const actions = await requireActions(session, actionIds);
  const [entries] = await Promise.all([
    core.feedReader.find(await session.profile(), idsOf(actions)),
    core.feeds.markHasMarks(userId),
  ]);
  const places = new Map(entries.map(({ actionId, relevancy }) => [actionId, relevancy]));
  await core.itemMarks.markRead(
    userId,
    actions.map(({ id, latest }) => ({ actionId: id, readAt: places.get(id) ?? latest })),
  );
  await announce(core, updates(userId, entries));
}

/**
 * Items stay unread until marked read individually.
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND, CONFLICT: none is marked.
 */
export async function markItemsUnread(
  core: Core,
  session: ReaderSession,
  actionIds: readonly ActionId[],
): Promise<void> {
  const { userId } = session.identity;
  const ids = idsOf(await requireActions(session, actionIds));
  const all = new Set([...(await core.itemMarks.unread(userId)), ...ids]);
  if (all.size > MAX_MARKED_UNREAD)
    throw new FanfareError(
      'CONFLICT',
      `No more than ${String(MAX_MARKED_UNREAD)} items can be marked as unread`,
    );
  await core.feeds.markHasMarks(userId, { hasUnreadMarks: true });
  await core.itemMarks.markUnread(userId, ids);
  const entries = await core.feedReader.find(await session.profile(), ids);
  await announce(core, updates(userId, entries));
}

/** Deduplicates. Costs the same for invisible and for missing actions. */
async function requireActions(session: ReaderSession, actionIds: readonly ActionId[]): Promise<Action[]> {
  const ids = [...new Set(actionIds)];
  if (actionIds.length < 1 || actionIds.length > MAX_MARKED_AT_ONCE)
    throw badInput(
      `Must have from 1 to ${String(MAX_MARKED_AT_ONCE)} entries, got ${String(actionIds.length)}`,
      ['actionIds'],
    );
  return Promise.all(ids.map((id) => requireAction(session, id)));
}

function idsOf(actions: readonly Action[]): ActionId[] {
  return actions.map(({ id }) => id);
}
