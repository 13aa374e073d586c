import { announceListChange, type AnnounceDependencies } from '../../../realtime/announce.ts';
import type { FeedsRepository } from '../../../storage/readers/feeds.ts';
import type { ReaderSession } from '../../session/reader-session.ts';
import { clock } from '../../../lib/clock.ts';

/** Marks everything up to a relevancy as read. Never moves back, and never beyond now: later items stay unread. */
export async function markFeedRead(
  dependencies: AnnounceDependencies & { readonly feeds: Pick<FeedsRepository, 'markRead'> },
  session: ReaderSession,
  upTo: Date,
): Promise<void> {
  const { userId } = session.identity;
  await dependencies.feeds.markRead(userId, new Date(Math.min(upTo.getTime(), clock.time())));
  await announceListChange(dependencies, [userId], 'marks');
}
