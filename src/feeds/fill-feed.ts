import type { UserId } from '../domain/action.ts';
import type { FeedEntry } from '../domain/newsfeed-item.ts';
import { announce } from '../realtime/announce.ts';
import { clock } from '../lib/clock.ts';
import type { FeedDependencies } from './feed-dependencies.ts';

/**
 * Adds past actions to one reader's feed and notifies watchers. If an action was hidden or deleted since it was read, its
 * removal may have missed this feed, so another pass is requested.
 *
 * @param notifiesOfStored also notify of entries that were already stored. For changes that make earlier deliveries visible,
 * whose
 *   events may have been withheld.
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
  // Not removed here: a later pass may have shown the action again and found the entry in place.
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
