import type { UserId } from '../../domain/action.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { passedOnBy } from '../../domain/visibility.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { loadFollows } from '../follow/own-follows.ts';

/** Resharers, newest first. One round trip for all items of a turn of the event loop; none for items without reshares. */
export async function resharedBy(session: ReaderSession, { action }: NewsfeedItem): Promise<UserId[]> {
  if (action.reshares.length === 0) return [];
  const [profile, follows] = await Promise.all([
    session.profile(),
    loadFollows(
      session,
      action.reshares.map(({ by }) => by),
    ),
  ]);
  return passedOnBy(profile, action, follows).flatMap(({ via }) => via ?? []);
}
