import type { ActionId } from '../../../domain/action.ts';
import type { NewsfeedItem } from '../../../domain/newsfeed-item.ts';
import type { ReaderSession } from '../../session/reader-session.ts';
import { presentEntry } from '../feed-rules.ts';
import { hydrateOne } from '../hydration.ts';
import type { ReadingDependencies } from '../../service-parts.ts';

/** The reader's own entry for one action, after the rules. */
export async function getNewsfeedItem(
  { feedReader }: ReadingDependencies,
  session: ReaderSession,
  actionId: ActionId,
): Promise<NewsfeedItem | null> {
  const reader = await session.profile();
  const [entry = null] = await feedReader.find(reader, [actionId]);
  const facts = await hydrateOne(session, reader, { actionId, entry });
  if (facts === null) return null;
  const state = facts.mark?.state ?? null;
  // Archived and snoozed items are not in the feed, but they are shown in their lists.
  return presentEntry(reader, facts, state === 'HIDDEN' ? null : state);
}
