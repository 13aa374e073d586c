import type { Action, ActionId } from '../../../domain/action.ts';
import { FanfareError } from '../../../domain/errors.ts';
import type { LastingState } from '../../../domain/item-mark.ts';
import { announce, removals } from '../../../realtime/announce.ts';
import { readListedActions } from '../listed-actions.ts';
import { requireAction } from '../read-actions.ts';
import { MAX_ARCHIVED } from '../state-entries.ts';
import type { ReaderSession } from '../../session/reader-session.ts';
import type { CountedPage, PageArgs } from '../../shapes.ts';
import { clock } from '../../../lib/clock.ts';
import type { ReadingDependencies } from '../../service-parts.ts';

/**
 * Takes an item out of the reader's feed, also when it is delivered again. The stored entry stays; the rules skip it.
 * Replaces the item's previous state.
 * @throws FanfareError NOT_FOUND when the reader may not see the action, CONFLICT when too many are archived.
 */
async function setItemState(
  dependencies: ReadingDependencies,
  session: ReaderSession,
  actionId: ActionId,
  state: LastingState,
): Promise<void> {
  const { feeds, itemMarks } = dependencies;
  const { userId } = session.identity;
  await requireAction(session, actionId);
  if (state === 'ARCHIVED') await requireRoom(dependencies, session, actionId);
  await feeds.markHasMarks(userId);
  await itemMarks.set(userId, actionId, state, clock.now());
  await announce(dependencies, removals(actionId, [userId], clock.now()));
}

/** Returns an item to the feed if it is in this state. @throws FanfareError NOT_FOUND when it is not visible. */
async function clearItemState(
  dependencies: ReadingDependencies,
  session: ReaderSession,
  actionId: ActionId,
  state: LastingState,
): Promise<void> {
  const { userId } = session.identity;
  await requireAction(session, actionId);
  await dependencies.itemMarks.clear(userId, actionId, state);
  await announceBack(dependencies, session, actionId);
}

/** Notifies the reader's watchers if an item is back in the feed. */
export async function announceBack(
  dependencies: Pick<ReadingDependencies, 'feedReader' | 'liveLog' | 'onLiveLogError'>,
  session: ReaderSession,
  actionId: ActionId,
): Promise<void> {
  const { userId } = session.identity;
  const entries = await dependencies.feedReader.find(await session.profile(), [actionId]);
  await announce(
    dependencies,
    entries.map((entry) => ({ userId, event: { kind: 'added', ...entry } })),
  );
}

type Change = (
  dependencies: ReadingDependencies,
  session: ReaderSession,
  actionId: ActionId,
) => Promise<void>;
export const hideFeedItem: Change = (...args) => setItemState(...args, 'HIDDEN');
export const unhideFeedItem: Change = (...args) => clearItemState(...args, 'HIDDEN');
export const archiveFeedItem: Change = (...args) => setItemState(...args, 'ARCHIVED');
export const unarchiveFeedItem: Change = (...args) => clearItemState(...args, 'ARCHIVED');

/**
 * Hidden items that the reader may see, newest first.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export function readHiddenItems(
  { itemMarks }: Pick<ReadingDependencies, 'itemMarks'>,
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

async function requireRoom(
  { itemMarks }: ReadingDependencies,
  session: ReaderSession,
  actionId: ActionId,
): Promise<void> {
  if ((await session.marks.load(actionId))?.state === 'ARCHIVED') return;
  if ((await itemMarks.count(session.identity.userId, 'ARCHIVED', MAX_ARCHIVED)) === MAX_ARCHIVED)
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_ARCHIVED)} items can be archived`);
}
