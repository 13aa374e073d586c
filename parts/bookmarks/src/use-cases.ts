import type { Core } from '../../../src/core/core.ts';
import type { Action, ActionId } from '../../../src/domain/action.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { clock } from '../../../src/lib/clock.ts';
import { onceFor } from '../../../src/lib/once-for.ts';
import { announce, isWatched, updates } from '../../../src/feed/announce.ts';
import { readListedActions } from '../../../src/feed/page/listed-actions.ts';
import { findVisible } from '../../../src/feed/page/read-actions.ts';
import { readerActionLoad } from '../../../src/feed/session/load.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { readerActionList } from '../../../src/storage/documents/reader-action-id.ts';
import type { Repositories } from '../../../src/storage/repositories.ts';
import type { CountedPage, PageArgs } from '../../../src/core/shapes.ts';

export const bookmarksOf = onceFor(({ collections }: Repositories) =>
  readerActionList(collections.bookmarks),
);

export const BOOKMARKED = readerActionLoad((core, pairs) => bookmarksOf(core).findPairs(pairs));

/** Upper bound on bookmarks of one reader; concurrent calls may exceed it by one. */
export const MAX_BOOKMARKS = 10_000;

/** Bookmarks an action. Repeated calls keep the first time. @throws NOT_FOUND, CONFLICT when there are too many. */
export async function bookmark(core: Core, session: ReaderSession, actionId: ActionId): Promise<Action> {
  const bookmarks = bookmarksOf(core);
  const { userId } = session.identity;
  const [{ action }, count] = await Promise.all([
    findVisible(core, session, actionId),
    bookmarks.count(userId, MAX_BOOKMARKS),
  ]);
  if (count === MAX_BOOKMARKS) {
    if ((await bookmarks.findPairs([{ userId, actionId }])).length > 0) return action;
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_BOOKMARKS)} actions can be bookmarked`);
  }
  if (await bookmarks.add(userId, actionId, clock.now())) await announceItem(core, session, actionId);
  return action;
}

/** @throws FanfareError NOT_FOUND when the reader may not see the action. */
export async function unbookmark(core: Core, session: ReaderSession, actionId: ActionId): Promise<Action> {
  const { action } = await findVisible(core, session, actionId);
  if (await bookmarksOf(core).remove(session.identity.userId, actionId))
    await announceItem(core, session, actionId);
  return action;
}

/** Other devices of the reader show it too. */
async function announceItem(core: Core, session: ReaderSession, actionId: ActionId): Promise<void> {
  if (!(await isWatched(core, session.identity.userId))) return;
  const entries = await core.feedReader.find(await session.profile(), [actionId]);
  await announce(core, updates(session.identity.userId, entries));
}

/** Bookmarks, newest first, regardless of mutes and marks. @throws BAD_USER_INPUT, BAD_CURSOR */
export function readBookmarks(
  core: Core,
  session: ReaderSession,
  args: PageArgs,
): Promise<CountedPage<Action>> {
  const { userId } = session.identity;
  return readListedActions(session, {
    list: `bookmarks:${userId}`,
    args,
    scan: (stretch) => bookmarksOf(core).list(userId, stretch),
  });
}
