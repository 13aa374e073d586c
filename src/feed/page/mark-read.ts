import type { Core } from '../../features/core.ts';
import { announceListChange } from '../announce.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { clock } from '../../lib/clock.ts';

/** Moves the read mark up to a relevancy. It never moves back and never beyond now, so later items stay unread. */
export async function markFeedRead(core: Core, session: ReaderSession, upTo: Date): Promise<void> {
  const { userId } = session.identity;
  await core.feeds.markRead(userId, new Date(Math.min(upTo.getTime(), clock.time())));
  await announceListChange(core, [userId], 'marks');
}
