import type { Core } from '../../core/core.ts';
import type { ActionId } from '../../domain/action.ts';
import type { FeedEntry, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { presentEntry } from './feed-rules.ts';
import { hydrateOne } from './hydration.ts';
import { ofAllLists } from './views.ts';
import { sessionBatches } from '../session/session-batches.ts';

const loadEntry = sessionBatches<ActionId, FeedEntry | null>(
  async ({ feedReader }, session, ids) => {
    const entries = await feedReader.find(await session.profile(), ids);
    const byId = new Map(entries.map((entry) => [entry.actionId, entry]));
    return ids.map((id) => byId.get(id) ?? null);
  },
  (id) => id,
);

/**
 * The reader's own entry for one action, after the rules. One look-up serves all entries that a session requests in one turn
 * of the event loop.
 */
export async function getNewsfeedItem(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
): Promise<NewsfeedItem | null> {
  const reader = await session.profile();
  return presented(session, reader, { actionId, entry: await loadEntry(core, session, actionId) });
}

async function presented(
  session: ReaderSession,
  reader: ReaderProfile,
  { actionId, entry }: { readonly actionId: ActionId; readonly entry: FeedEntry | null },
): Promise<NewsfeedItem | null> {
  const facts = await hydrateOne(session, reader, { actionId, entry });
  if (facts === null) return null;
  const state = facts.mark?.state ?? null;
  // Items in a state, or of an exclusive list, are not in the feed, but they are shown in the list of it.
  return presentEntry(ofAllLists(reader), facts, state === 'HIDDEN' ? null : state);
}
