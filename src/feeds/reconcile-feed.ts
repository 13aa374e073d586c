import type { ActionId, UserId } from '../domain/action.ts';
import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../domain/newsfeed-item.ts';
import { isAboveAll } from './floor.ts';
import type { StoredPage } from './feed-store.ts';
import { readFromSource } from './source.ts';
import { entriesOf, sourceKeys, feedMembershipOf, type FeedMembership } from './membership.ts';
import { announce, announceListChange, removals, type AnnounceDependencies } from '../realtime/announce.ts';
import { fillFeed } from './fill-feed.ts';
import { clock } from '../lib/clock.ts';
import type { FeedDependencies, InTurn, RebuildDependencies } from './feed-dependencies.ts';

const CHUNK = 500;

/**
 * Removes from a reader's stored feed what does not belong there, and puts every entry where it belongs, also when that
 * is lower. Costs four round trips per 500 stored entries, and four more where something is to be changed. Returns what
 * was changed; watchers have been notified of it.
 */
export async function sweepFeed(
  dependencies: FeedDependencies,
  userId: UserId,
): Promise<ReadonlySet<ActionId>> {
  return (await sweep(dependencies, userId, (chunk) => chunk())).notified;
}

/** Returns also the first page of what was stored, as it was before. */
async function sweep(
  dependencies: FeedDependencies,
  userId: UserId,
  inTurn: InTurn,
): Promise<{ readonly notified: ReadonlySet<ActionId>; readonly before: StoredPage }> {
  let before: StoredPage | undefined;
  const notified = new Set<ActionId>();
  const membership = await feedMembershipOf(dependencies, userId);
  let after: FeedPosition | undefined;
  for (;;) {
    const from = after;
    const { page, changed } = await inTurn(() => sweepChunk(dependencies, membership, userId, from));
    before ??= page;
    for (const { actionId } of changed) notified.add(actionId);
    if (page.entries.length < CHUNK) return { notified, before };
    after = page.entries.at(-1);
  }
}

/** Returns what was stored below the position, and what of it was changed. */
async function sweepChunk(
  dependencies: FeedDependencies,
  membership: FeedMembership,
  userId: UserId,
  after: FeedPosition | undefined,
): Promise<{ readonly page: StoredPage; readonly changed: readonly FeedEntry[] }> {
  const page = await dependencies.feedStore.page({
    userId,
    limit: CHUNK,
    ...(after === undefined ? {} : { after }),
  });
  const wanted = await wantedEntries(
    dependencies,
    membership,
    page.entries.map((entry) => entry.actionId),
  );
  const changed = page.entries.filter((entry) => !isSame(entry, wanted.get(entry.actionId)));
  if (changed.length > 0) await replace(dependencies, userId, changed, wanted);
  return { page, changed };
}

/**
 * Makes the top of a reader's stored feed what the definition says: sweeps it, then adds what is missing from the
 * actions themselves, down to `cap` entries. Returns the floor: where the feed goes on from the source; null when it is
 * stored whole. The store is notified before the actions are read and when all are written, so that it can vouch for the feed.
 * The difference is announced to watchers; where what pages were read from is not known any more, they have a resync in its place.
 *
 * @param claim.floor what was stored before was vouched for above this position; null: all the way down
 */
export async function rebuildStoredFeed(
  given: RebuildDependencies,
  { userId, floor: vouchedFor }: { readonly userId: UserId; readonly floor: FeedPosition | null },
): Promise<FeedPosition | null> {
  const { before } = await sweep(given, userId, given.inTurn);
  const isDifferenceKnown = storesWhatWasRead(before, vouchedFor);
  const dependencies = isDifferenceKnown ? given : { ...given, liveLog: NOBODY_WATCHES };
  const { cap, feedStore, inTurn } = dependencies;
  await feedStore.fill(userId, []);
  const membership = await feedMembershipOf(dependencies, userId);
  const entries = await inTurn(() =>
    readFromSource(
      dependencies,
      {
        reader: membership.reader,
        keys: sourceKeys(membership),
        followsOf: () => Promise.resolve(membership.follows),
      },
      { limit: cap + 1 },
    ),
  );
  const kept = entries.slice(0, cap);
  const floor = entries[cap] ?? null;
  for (let from = 0; from < kept.length; from += CHUNK) {
    const some = kept.slice(from, from + CHUNK);
    await inTurn(() => fillFeed(dependencies, userId, asStored(some)));
  }
  const isCompleteDownTo = floor === null ? null : { relevancy: floor.relevancy, actionId: floor.actionId };
  await feedStore.fill(userId, [], { isCompleteDownTo });
  if (!isDifferenceKnown) await announceListChange(given, [userId], 'membership');
  return isCompleteDownTo;
}

const NOBODY_WATCHES: AnnounceDependencies['liveLog'] = {
  watched: () => Promise.resolve([]),
  append: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

/**
 * Whether what is stored is all that pages have been read from since the feed was vouched for. What the store has lost or let go of since
 * may stand in the list of a watcher where it stood then, and nobody can say of it that it stands elsewhere now.
 */
function storesWhatWasRead({ floor, isLost }: StoredPage, vouchedFor: FeedPosition | null): boolean {
  if (isLost === true || isAboveAll(vouchedFor)) return false;
  // Nothing is ever stored: pages are always as they should be.
  if (floor === null || isAboveAll(floor)) return true;
  return vouchedFor !== null && compareFeedPositions(floor, vouchedFor) >= 0;
}

/** Those of the entries that are stored, as they are. */
export function asStored(entries: readonly FeedEntry[]): FeedEntry[] {
  return entries.filter(isPushed).map(withoutPull);
}

/** What comes into the feed by pulling alone is not stored. */
function isPushed(entry: FeedEntry): boolean {
  return entry.reasons.some((reason) => reason !== 'PULL');
}

async function wantedEntries(
  dependencies: FeedDependencies,
  membership: FeedMembership,
  actionIds: readonly string[],
): Promise<Map<string, FeedEntry>> {
  if (actionIds.length === 0) return new Map();
  const actions = await dependencies.actions.findByIds(actionIds);
  const entries = await entriesOf(dependencies, membership, actions);
  return new Map(asStored(entries).map((entry) => [entry.actionId, entry]));
}

/** A stored entry says why it was pushed; that it is pulled too is found when the feed is read. */
function withoutPull(entry: FeedEntry): FeedEntry {
  return { ...entry, reasons: entry.reasons.filter((reason) => reason !== 'PULL') };
}

function isSame(stored: FeedEntry, wanted: FeedEntry | undefined): boolean {
  return (
    wanted?.relevancy.getTime() === stored.relevancy.getTime() &&
    wanted.reasons.length === stored.reasons.length &&
    wanted.reasons.every((reason) => stored.reasons.includes(reason))
  );
}

/** Takes entries out and puts what is wanted in their place. */
async function replace(
  dependencies: FeedDependencies,
  userId: UserId,
  changed: readonly FeedEntry[],
  wanted: ReadonlyMap<string, FeedEntry>,
): Promise<void> {
  const ids = changed.map((entry) => entry.actionId);
  await dependencies.feedStore.remove([userId], ids);
  await dependencies.feedStore.fill(
    userId,
    ids.flatMap((id) => wanted.get(id) ?? []),
  );
  // A delivery that came between the reading and the removal is gone with it. What it went by was written before it,
  // so looking once more finds it.
  const now = await wantedEntries(dependencies, await feedMembershipOf(dependencies, userId), ids);
  await dependencies.feedStore.fill(userId, [...now.values()]);
  await announce(
    dependencies,
    ids.flatMap((id) => {
      const entry = now.get(id);
      return entry === undefined
        ? removals(id, [userId], clock.now())
        : [{ userId, event: { kind: 'updated' as const, ...entry } }];
    }),
  );
}
