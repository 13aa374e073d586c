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
 * Removes entries that do not belong in a reader's stored feed and corrects the positions of the others, also downwards.
 * Costs four round trips per 500 stored entries, and four more for changes. Watchers have been notified of the changes,
 * which are returned.
 */
export async function sweepFeed(
  dependencies: FeedDependencies,
  userId: UserId,
): Promise<ReadonlySet<ActionId>> {
  return (await sweep(dependencies, userId, (chunk) => chunk())).notified;
}

/** Also returns the first page of the stored feed as it was before. */
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

/** Returns the entries stored below the position, and the changes among them. */
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
 * Makes the top of a reader's stored feed match the definition: sweeps it, or drops it if none of it counts, then adds
 * missing entries from the actions, down to `cap` entries. Returns the floor, below which the feed continues from the source;
 * `null` when it is stored completely. The store is informed before the actions are read and after all are written, so that it
 * can declare the feed complete. Differences are announced to watchers; if it is unknown what their pages were read from, they
 * are asked to resync instead.
 *
 * @param claim.floor the stored feed was complete above this position before; `null`: to the end
 */
export async function rebuildStoredFeed(
  given: RebuildDependencies,
  { userId, floor: vouchedFor }: { readonly userId: UserId; readonly floor: FeedPosition | null },
): Promise<FeedPosition | null> {
  // Where nothing stored counts, it may also have been stored in another shape, which the model no longer finds.
  const before = isAboveAll(vouchedFor)
    ? await dropped(given, userId)
    : (await sweep(given, userId, given.inTurn)).before;
  const isDifferenceKnown = before !== null && storesWhatWasRead(before, vouchedFor);
  const dependencies = isDifferenceKnown ? given : { ...given, liveLog: NOBODY_WATCHES };
  const { cap, feedStore, inTurn, stretch } = dependencies;
  await feedStore.fill(userId, []);
  const membership = await feedMembershipOf(dependencies, userId);
  const entries = await inTurn(() =>
    readFromSource(
      dependencies,
      {
        reader: membership.reader,
        keys: sourceKeys(membership),
        followsOf: () => Promise.resolve(membership.follows),
        guess: stretch,
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

async function dropped({ feedStore, inTurn }: RebuildDependencies, userId: UserId): Promise<null> {
  await inTurn(() => feedStore.drop(userId));
  return null;
}

const NOBODY_WATCHES: AnnounceDependencies['liveLog'] = {
  watched: () => Promise.resolve([]),
  append: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

/**
 * Whether the stored entries include everything that pages have been read from since the feed was declared complete. Entries
 * that the store lost or evicted since may be in a watcher's list at an old position, and their changes cannot be announced.
 */
function storesWhatWasRead({ floor, isLost }: StoredPage, vouchedFor: FeedPosition | null): boolean {
  if (isLost === true) return false;
  // The model stores nothing: pages are always computed.
  if (floor === null || isAboveAll(floor)) return true;
  return vouchedFor !== null && compareFeedPositions(floor, vouchedFor) >= 0;
}

/** The stored ones among the entries, unchanged. */
export function asStored(entries: readonly FeedEntry[]): FeedEntry[] {
  return entries.filter(isPushed).map(withoutPull);
}

/** Entries that are only pulled are not stored. */
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

/** A stored entry has the reasons for pushing only; pulling is decided at read time. */
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

/** Removes entries and adds the wanted ones in their place. */
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
  // A delivery between the read and the removal is lost with it. The data it was based on was written before, so another
  // look
  // finds it.
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
