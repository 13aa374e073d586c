import { announceListChange, type AnnounceDependencies } from '../../../realtime/announce.ts';
import type { FeedsRepository } from '../../../storage/readers/feeds.ts';
import type { ReaderSession } from '../../session/reader-session.ts';
import { clock } from '../../../lib/clock.ts';

/** Moves the read mark up to a relevancy. It never moves back and never beyond now, so later items stay unread. */
export async function markFeedRead(
  dependencies: AnnounceDependencies & { readonly feeds: Pick<FeedsRepository, 'markRead'> },
  session: ReaderSession,
  upTo: Date,
): Promise<void> {
  const { userId } = session.identity;
  await dependencies.feeds.markRead(userId, new Date(Math.min(upTo.getTime(), clock.time())));
  await announceListChange(dependencies, [userId], 'marks');
}
