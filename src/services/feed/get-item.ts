import type { ActionId } from '../../domain/action.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { FeedReader } from '../../feeds/feed-reader.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { presentEntry } from './feed-rules.ts';
import { hydrateOne } from './hydration.ts';

export interface GetItemDependencies {
  readonly feedReader: Pick<FeedReader, 'find'>;
}

/** The reader's own entry for one action, after the rules. */
export async function getNewsfeedItem(
  { feedReader }: GetItemDependencies,
  session: ReaderSession,
  actionId: ActionId,
): Promise<NewsfeedItem | null> {
  const reader = await session.profile();
  const [entry = null] = await feedReader.find(reader, [actionId]);
  const facts = await hydrateOne(session, reader, { actionId, entry });
  if (facts === null) return null;
  const state = facts.mark?.state ?? null;
  // What is archived or snoozed is not in the feed, and has its list all the same.
  return presentEntry(reader, facts, state === 'HIDDEN' ? null : state);
}
