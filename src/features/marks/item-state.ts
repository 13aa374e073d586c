import type { Core } from '../core.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { LastingState } from '../../domain/newsfeed-item.ts';
import { announce, removals } from '../../feed/announce.ts';
import { readListedActions } from '../../feed/page/listed-actions.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import { MAX_ARCHIVED } from '../../feed/page/read-page.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import type { CountedPage, PageArgs } from '../shapes.ts';
import { clock } from '../../lib/clock.ts';
import { ITEM_MARK } from './own-marks.ts';

/**
 * Takes an item out of the reader's feed, also when it is delivered again. The stored entry stays; the rules skip it.
 * Replaces the item's previous state.
 * @throws FanfareError NOT_FOUND when the reader may not see the action, CONFLICT when too many are archived.
 */
async function setItemState(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
  state: LastingState,
): Promise<void> {
  const { feeds, itemMarks } = core;
  const { userId } = session.identity;
  await requireAction(session, actionId);
  if (state === 'ARCHIVED') await requireRoom(core, session, actionId);
  await feeds.markHasMarks(userId);
  await itemMarks.set(userId, actionId, state, clock.now());
  await announce(core, removals(actionId, [userId], clock.now()));
}

/** Returns an item to the feed if it is in this state. @throws FanfareError NOT_FOUND when it is not visible. */
async function clearItemState(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
  state: LastingState,
): Promise<void> {
  const { userId } = session.identity;
  await requireAction(session, actionId);
  await core.itemMarks.clear(userId, actionId, state);
  await announceBack(core, session, actionId);
}

/** Notifies the reader's watchers if an item is back in the feed. */
export async function announceBack(core: Core, session: ReaderSession, actionId: ActionId): Promise<void> {
  const { userId } = session.identity;
  const entries = await core.feedReader.find(await session.profile(), [actionId]);
  await announce(
    core,
    entries.map((entry) => ({ userId, event: { kind: 'added', ...entry } })),
  );
}

type Change = (core: Core, session: ReaderSession, actionId: ActionId) => Promise<void>;
export const hideFeedItem: Change = (...args) => setItemState(...args, 'HIDDEN');
export const unhideFeedItem: Change = (...args) => clearItemState(...args, 'HIDDEN');
export const archiveFeedItem: Change = (...args) => setItemState(...args, 'ARCHIVED');
export const unarchiveFeedItem: Change = (...args) => clearItemState(...args, 'ARCHIVED');

/**
 * Hidden items that the reader may see, newest first.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export function readHiddenItems(
  { itemMarks }: Core,
  session: ReaderSession,
  args: PageArgs,
): Promise<CountedPage<Action>> {
  const { userId } = session.identity;
  return readListedActions(session, {
    list: `hidden:${userId}`,
    args,
    scan: (after, limit) => itemMarks.list(userId, 'HIDDEN', after, limit),
  });
}

async function requireRoom({ itemMarks }: Core, session: ReaderSession, actionId: ActionId): Promise<void> {
  if ((await session.load(ITEM_MARK, actionId))?.state === 'ARCHIVED') return;
  if ((await itemMarks.count(session.identity.userId, 'ARCHIVED', MAX_ARCHIVED)) === MAX_ARCHIVED)
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_ARCHIVED)} items can be archived`);
}
