import type { Context } from './context.ts';
import type { ActionId, UserId } from '../domain/action.ts';
import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../domain/newsfeed-item.ts';
import { isAboveAll, type StoredPage } from './feed-store.ts';
import {
  readFromSource,
  type StretchGuess,
  entriesOf,
  sourceKeys,
  feedMembershipOf,
  type FeedMembership,
} from './source.ts';
import { announce, announceListChange, removals } from './announce.ts';
import { MemoryLiveLog } from '../live/memory-live-log.ts';
import { clock } from '../lib/clock.ts';

const CHUNK = 500;

/** Runs a chunk of work when its lane allows. */
type InTurn = <T>(chunk: () => Promise<T>) => Promise<T>;

export interface RebuildTurns {
  readonly inTurn: InTurn;
  /** Shared by the rebuilds of a process. */
  readonly stretch: StretchGuess;
}

/** Requests rebuilds and wakes the workers. One write. */
export async function makeDue({ feeds, workSignal }: Context, userIds: readonly UserId[]): Promise<void> {
  await feeds.markDue(userIds, clock.now());
  workSignal.notify('rebuild');
}

/**
 * Removes entries that do not belong in a reader's stored feed and corrects the positions of the others, also downwards.
 * Costs four round trips per 500 stored entries, and four more for changes. Watchers have been notified of the changes,
 * which are returned.
 */
export async function sweepFeed(context: Context, userId: UserId): Promise<ReadonlySet<ActionId>> {
  return (await sweep(context, userId, (chunk) => chunk())).notified;
}

/** Also returns the first page of the stored feed as it was before. */
async function sweep(
  context: Context,
  userId: UserId,
  inTurn: InTurn,
): Promise<{ readonly notified: ReadonlySet<ActionId>; readonly before: StoredPage }> {
  let before: StoredPage | undefined;
  const notified = new Set<ActionId>();
  const membership = await feedMembershipOf(context, userId);
  let after: FeedPosition | undefined;
  for (;;) {
    const from = after;
    const { page, changed } = await inTurn(() => sweepChunk(context, membership, userId, from));
    before ??= page;
    for (const { actionId } of changed) notified.add(actionId);
    if (page.entries.length < CHUNK) return { notified, before };
    after = page.entries.at(-1);
  }
}

/** Returns the entries stored below the position, and the changes among them. */
async function sweepChunk(
  context: Context,
  membership: FeedMembership,
  userId: UserId,
  after: FeedPosition | undefined,
): Promise<{ readonly page: StoredPage; readonly changed: readonly FeedEntry[] }> {
  const page = await context.feedStore.page({
    userId,
    limit: CHUNK,
    ...(after === undefined ? {} : { after }),
  });
  return { page, changed: await correct(context, membership, userId, page.entries) };
}

/** Returns those of the stored entries that did not match the definition. */
async function correct(
  context: Context,
  membership: FeedMembership,
  userId: UserId,
  stored: readonly FeedEntry[],
): Promise<readonly FeedEntry[]> {
  const wanted = await wantedEntries(
    context,
    membership,
    stored.map((entry) => entry.actionId),
  );
  const changed = stored.filter((entry) => !isSame(entry, wanted.get(entry.actionId)));
  if (changed.length > 0) await replace(context, userId, changed, wanted);
  return changed;
}

/**
 * Adds past actions to one reader's feed and notifies watchers. An action may have changed between its read and this write,
 * and its pass may have ended:
 * - If it was hidden or deleted, its removal may have missed this feed, so another pass is requested.
 * - If an edit puts it lower for this reader, the write has raised it again, so it is corrected.
 *
 * @param entries with the revisions that they were computed from
 * @param options.notifiesOfStored also notify of entries that were already stored. For changes that make earlier deliveries
 *   visible, whose events may have been withheld.
 */
export async function fillFeed(
  context: Context,
  userId: UserId,
  entries: readonly FeedEntry[],
  { notifiesOfStored = false }: { readonly notifiesOfStored?: boolean } = {},
): Promise<void> {
  if (entries.length === 0) return;
  const { feedStore, actions, fanOuts } = context;
  const added = new Set(await feedStore.fill(userId, entries));
  const visible = await actions.visibleRevisions(entries.map((entry) => entry.actionId));
  // Not removed here: a later pass may have shown the action again and found the entry in place.
  for (const id of added) if (!visible.has(id)) await fanOuts.requestPass(id, clock.now(), 'URGENT');
  const seen = entries.filter((entry) => visible.has(entry.actionId));
  await announce(
    context,
    seen
      .filter((entry) => notifiesOfStored || added.has(entry.actionId))
      .map((entry) => ({
        userId,
        event: { kind: added.has(entry.actionId) ? 'added' : 'updated', ...entry },
      })),
  );
  const outdated = seen.filter((entry) => visible.get(entry.actionId) !== entry.rev);
  if (outdated.length === 0) return;
  const ids = outdated.map((entry) => entry.actionId);
  const membership = await feedMembershipOf(context, userId);
  await correct(context, membership, userId, await feedStore.find(userId, ids));
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
  given: Context,
  { userId, floor: vouchedFor }: { readonly userId: UserId; readonly floor: FeedPosition | null },
  { inTurn, stretch }: RebuildTurns,
): Promise<FeedPosition | null> {
  // Where nothing stored counts, it may also have been stored in another shape, which the model no longer finds.
  const before = isAboveAll(vouchedFor)
    ? await inTurn(() => given.feedStore.drop(userId).then(() => null))
    : (await sweep(given, userId, inTurn)).before;
  const isDifferenceKnown = before !== null && storesWhatWasRead(before, vouchedFor);
  // Nobody watches a log of its own.
  const context = isDifferenceKnown ? given : { ...given, liveLog: new MemoryLiveLog() };
  const { cap, feedStore } = context;
  await feedStore.fill(userId, []);
  const membership = await feedMembershipOf(context, userId);
  const entries = await inTurn(() =>
    readFromSource(
      context,
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
    await inTurn(() => fillFeed(context, userId, asStored(some)));
  }
  const isCompleteDownTo = floor === null ? null : { relevancy: floor.relevancy, actionId: floor.actionId };
  await feedStore.fill(userId, [], { isCompleteDownTo });
  if (!isDifferenceKnown) await announceListChange(given, [userId], 'membership');
  return isCompleteDownTo;
}

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
  context: Context,
  membership: FeedMembership,
  actionIds: readonly string[],
): Promise<Map<string, FeedEntry>> {
  if (actionIds.length === 0) return new Map();
  const actions = await context.actions.findByIds(actionIds);
  const entries = await entriesOf(context, membership, actions);
  return new Map(asStored(entries).map((entry) => [entry.actionId, entry]));
}

/** A stored entry has the reasons for pushing only; pulling is decided at read time. */
function withoutPull(entry: FeedEntry): FeedEntry {
  return { ...entry, reasons: entry.reasons.filter((reason) => reason !== 'PULL') };
}

function isSame(a: FeedEntry | undefined, b: FeedEntry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.relevancy.getTime() === b.relevancy.getTime() &&
    a.reasons.length === b.reasons.length &&
    a.reasons.every((reason) => b.reasons.includes(reason))
  );
}

/** Removes entries and adds the wanted ones in their place. */
async function replace(
  context: Context,
  userId: UserId,
  changed: readonly FeedEntry[],
  wanted: ReadonlyMap<string, FeedEntry>,
): Promise<void> {
  const { feedStore } = context;
  const entries = new Map(changed.map(({ actionId }) => [actionId, wanted.get(actionId)]));
  let open = [...entries.keys()];
  while (open.length > 0) {
    await feedStore.remove([userId], open);
    await feedStore.fill(
      userId,
      open.flatMap((id) => entries.get(id) ?? []),
    );
    // A delivery between the read and the removal is lost with it, and the pass of an edit may have ended before the write.
    // The data they are based on was written before, so another look finds it.
    const now = await wantedEntries(context, await feedMembershipOf(context, userId), open);
    open = open.filter((id) => !isSame(entries.get(id), now.get(id)));
    for (const id of open) entries.set(id, now.get(id));
  }
  await announce(
    context,
    [...entries].flatMap(([id, entry]) =>
      entry === undefined
        ? removals(id, [userId], clock.now())
        : [{ userId, event: { kind: 'updated' as const, ...entry } }],
    ),
  );
}
