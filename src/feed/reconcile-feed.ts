import type { Context } from './context.ts';
import type { ActionId, UserId } from '../domain/action.ts';
import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../domain/newsfeed-item.ts';
import { isAboveAll, type StoredPage } from './feed-store.ts';
import {
  readFromSource,
  type StretchGuess,
  entriesOf,
  sharedReads,
  sourceKeys,
  feedMembershipOf,
  feedMembershipsOf,
  type FeedMembership,
} from './source.ts';
import { announce, announceListChange, removals } from './announce.ts';
import { UNWATCHED } from '../live/live-log.ts';
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
export async function makeDue(
  { feedRebuilds, workSignal }: Context,
  userIds: readonly UserId[],
): Promise<void> {
  await feedRebuilds.markDue(userIds, clock.now());
  workSignal.notify('rebuild');
}

/**
 * Removes entries that do not belong in a reader's stored feed and corrects the positions of the others, also downwards.
 * Costs four round trips per 500 stored entries, and four more for changes. Watchers have been notified of the changes,
 * which are returned.
 */
export async function sweepFeed(context: Context, userId: UserId): Promise<ReadonlySet<ActionId>> {
  const notified = new Set<ActionId>();
  const membership = await feedMembershipOf(context, userId);
  for await (const { entries } of storedPages(context, userId, (chunk) => chunk()))
    for (const { actionId } of await correct(context, membership, userId, entries)) notified.add(actionId);
  return notified;
}

/** The stored feed from its top, at least one page. */
async function* storedPages(
  { feedStore }: Context,
  userId: UserId,
  inTurn: InTurn,
): AsyncGenerator<StoredPage, void, undefined> {
  let after: FeedPosition | undefined;
  do {
    const query = { userId, limit: CHUNK, ...(after === undefined ? {} : { after }) };
    const page = await inTurn(() => feedStore.page(query));
    yield page;
    after = page.entries.length < CHUNK ? undefined : page.entries.at(-1);
  } while (after !== undefined);
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

interface FillOptions {
  /**
   * Also notify of entries that were already stored. For changes that make earlier deliveries visible, whose events may have
   * been withheld.
   */
  readonly notifiesOfStored?: boolean;
  /** Reads revisions of visible actions, after the write. Others are read by another query. */
  readonly revisions?: (() => Promise<ReadonlyMap<ActionId, number>>) | undefined;
}

/**
 * Adds past actions to one reader's feed and notifies watchers. An action may have changed between its read and this write,
 * and its pass may have ended:
 * - If it was hidden or deleted, its removal may have missed this feed, so another pass is requested.
 * - If an edit puts it lower for this reader, the write has raised it again, so it is corrected.
 *
 * @param entries with the revisions that they were computed from
 */
export async function fillFeed(
  context: Context,
  userId: UserId,
  entries: readonly FeedEntry[],
  { notifiesOfStored = false, revisions }: FillOptions = {},
): Promise<void> {
  if (entries.length === 0) return;
  const { feedStore, actions, fanOuts } = context;
  const added = new Set(await feedStore.fill(userId, entries));
  const found = (await revisions?.()) ?? new Map<ActionId, number>();
  const others = entries.map(({ actionId }) => actionId).filter((id) => !found.has(id));
  const visible =
    others.length === 0 ? found : new Map([...found, ...(await actions.visibleRevisions(others))]);
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

/** A reader's feed that is to be rebuilt. */
export interface RebuiltFeed {
  readonly userId: UserId;
  /** The stored feed was complete above this position before; `null`: to the end. */
  readonly floor: FeedPosition | null;
}

/**
 * Begins to rebuild several stored feeds, whose actions are then read together as far as they are the same. The store is
 * informed before any are read, so that it can declare the feeds complete.
 * @returns how each of them is rebuilt; see `rebuildStoredFeed`
 */
export async function beginRebuilds(
  context: Context,
  feeds: readonly RebuiltFeed[],
  turns: RebuildTurns,
): Promise<(feed: RebuiltFeed) => Promise<FeedPosition | null>> {
  const { feedStore } = context;
  await Promise.all(
    feeds.map(async ({ userId, floor }) => {
      // Where nothing stored counts, it may also have been stored in another shape, which the model no longer finds.
      if (isAboveAll(floor)) await turns.inTurn(() => feedStore.drop(userId));
      await feedStore.fill(userId, []);
    }),
  );
  const memberships = await feedMembershipsOf(
    context,
    feeds.map(({ userId }) => userId),
  );
  const shared = sharedReads(context, memberships);
  const byReader = new Map(memberships.map((membership) => [membership.reader.userId, membership]));
  return async (feed) => {
    const membership = byReader.get(feed.userId) ?? (await feedMembershipOf(context, feed.userId));
    return rebuildStoredFeed(context, feed, { ...turns, shared, membership });
  };
}

/**
 * Makes the top of a reader's stored feed match the definition: computes it from the actions, corrects what is stored and
 * differs, and adds what is missing, down to `cap` entries. Returns the floor, below which the feed continues from the source;
 * `null` when it is stored completely. Differences are announced to watchers; if it is unknown what their pages were read from,
 * they are asked to resync instead.
 *
 * @param how.shared for the first look. What differs by it is looked at again.
 */
async function rebuildStoredFeed(
  given: Context,
  { userId, floor: vouchedFor }: RebuiltFeed,
  how: RebuildTurns & { readonly shared: Context; readonly membership: FeedMembership },
): Promise<FeedPosition | null> {
  const { inTurn, stretch, shared, membership } = how;
  const pages: StoredPage[] = [];
  if (!isAboveAll(vouchedFor)) for await (const page of storedPages(given, userId, inTurn)) pages.push(page);
  const [before] = pages;
  const isDifferenceKnown = before !== undefined && storesWhatWasRead(before, vouchedFor);
  const context = isDifferenceKnown ? given : { ...given, liveLog: UNWATCHED };
  const { cap, feedStore } = context;
  const entries = await inTurn(() =>
    readFromSource(
      shared,
      {
        reader: membership.reader,
        keys: sourceKeys(membership),
        followsOf: () => Promise.resolve(membership.follows),
        guess: stretch,
      },
      { limit: cap + 1 },
    ),
  );
  const floor = entries[cap] ?? null;
  const wanted = new Map(asStored(entries.slice(0, cap)).map((entry) => [entry.actionId, entry]));
  const stored = pages.flatMap((page) => page.entries);
  const different = stored.filter((entry) => !isSame(entry, wanted.get(entry.actionId)));
  for (const some of inChunks(different))
    await inTurn(async () => correct(context, await feedMembershipOf(context, userId), userId, some));
  for (const { actionId } of stored) wanted.delete(actionId);
  for (const some of inChunks([...wanted.values()])) await inTurn(() => fillFeed(context, userId, some));
  const isCompleteDownTo = floor === null ? null : { relevancy: floor.relevancy, actionId: floor.actionId };
  await feedStore.fill(userId, [], { isCompleteDownTo });
  if (!isDifferenceKnown) await announceListChange(given, [userId], 'membership');
  return isCompleteDownTo;
}

function* inChunks<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < values.length; from += CHUNK) yield values.slice(from, from + CHUNK);
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
