import type { ActionId } from '../../domain/action.ts';
import { announce, removals, type AnnounceDependencies } from '../../realtime/announce.ts';
import type { FeedReader } from '../../feeds/feed-reader.ts';
import type { FeedsRepository } from '../../storage/feeds.ts';
import type { HiddenItemsRepository } from '../../storage/hidden-items.ts';
import { requireAction } from './read-actions.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { clock } from '../../lib/clock.ts';

export interface HideFeedItemDependencies extends AnnounceDependencies {
  readonly feeds: Pick<FeedsRepository, 'markHasHiddenItems'>;
  readonly hiddenItems: Pick<HiddenItemsRepository, 'hide' | 'unhide'>;
  readonly feedReader: Pick<FeedReader, 'find'>;
}

/**
 * Hides an item from the reader's own feed, now and when it is delivered again. What is stored stays: the rules leave
 * it out.
 * @throws FanfareError NOT_FOUND when the reader may not see such an action.
 */
export async function hideFeedItem(
  dependencies: HideFeedItemDependencies,
  session: ReaderSession,
  actionId: ActionId,
): Promise<void> {
  const { userId } = session.identity;
  await requireAction(session, actionId);
  await dependencies.feeds.markHasHiddenItems(userId);
  await dependencies.hiddenItems.hide(userId, actionId);
  await announce(dependencies, removals(actionId, [userId], clock.now()));
}

/** @throws FanfareError NOT_FOUND when the reader may not see such an action. */
export async function unhideFeedItem(
  dependencies: HideFeedItemDependencies,
  session: ReaderSession,
  actionId: ActionId,
): Promise<void> {
  const { userId } = session.identity;
  await requireAction(session, actionId);
  await dependencies.hiddenItems.unhide(userId, actionId);
  const entries = await dependencies.feedReader.find(await session.profile(), [actionId]);
  await announce(
    dependencies,
    entries.map((entry) => ({ userId, event: { kind: 'added', ...entry } })),
  );
}
