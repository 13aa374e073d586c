import type { UserId } from '../domain/action.ts';
import type { FeedEntry } from '../domain/newsfeed-item.ts';
import { announce } from '../realtime/announce.ts';
import { clock } from '../lib/clock.ts';
import type { FeedDependencies } from './feed-dependencies.ts';

/**
 * Puts past actions into one reader's feed and tells who is watching. For an action that was hidden or deleted since it
 * was read, and whose removal may have passed this feed by, one more pass is asked for.
 *
 * @param notifiesOfStored also notifies of what was stored already. For changes by which a reader comes to see what was
 *   delivered before: its event may have been withheld.
 */
export async function fillFeed(
  dependencies: FeedDependencies,
  userId: UserId,
  entries: readonly FeedEntry[],
  { notifiesOfStored = false }: { readonly notifiesOfStored?: boolean } = {},
): Promise<void> {
  if (entries.length === 0) return;
  const { feedStore, actions, fanOuts } = dependencies;
  const added = new Set(await feedStore.fill(userId, entries));
  if (added.size === 0 && !notifiesOfStored) return;
  const found = await actions.findByIds(
    notifiesOfStored ? entries.map((entry) => entry.actionId) : [...added],
  );
  const visible = new Set(
    found.filter((action) => !action.isHidden && !action.isDeleted).map((action) => action.id),
  );
  // Not removed here: it may have been shown again meanwhile, by a pass that found it in its place.
  for (const id of added) if (!visible.has(id)) await fanOuts.requestPass(id, clock.now(), 'URGENT');
  await announce(
    dependencies,
    entries
      .filter((entry) => visible.has(entry.actionId))
      .map((entry) => ({
        userId,
        event: { kind: added.has(entry.actionId) ? 'added' : 'updated', ...entry },
      })),
  );
}
