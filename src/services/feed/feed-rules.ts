import { isMutedAction, type MutableAction } from '../../descriptors/muted-action.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import type { WithheldReason } from '../../domain/explanation.ts';
import { isUnreadItem, markAt, type ItemMark, type ItemState } from '../../domain/item-mark.ts';
import type { FeedEntry, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import {
  currentReasons,
  followableIds,
  isPulledFor,
  mustAskFollows,
  mutesPasser,
} from '../../domain/visibility.ts';
import type { Follow, ReaderProfile } from '../../domain/viewer.ts';
import type { ReaderSession } from '../session/reader-session.ts';

/** What the rules are decided from, besides the reader. */
export interface EntryFacts {
  readonly entry: FeedEntry;
  readonly action: Action | null;
  /** What the reader said of it. */
  readonly mark: ItemMark | null;
  /** The reader's follows of the action's refs; null: not asked for, since a delivered follow is known to stand. */
  readonly follows: readonly Follow[] | null;
}

/**
 * Loads what the rules need for entries of the session's reader: the actions, in one round trip, and what only some
 * readers have to be asked for.
 */
export async function hydrateEntries(
  session: ReaderSession,
  entries: readonly FeedEntry[],
): Promise<EntryFacts[]> {
  if (entries.length === 0) return [];
  const ids = entries.map((entry) => entry.actionId);
  // Asked for before the reader is known: both may be read at the same time.
  const loading = actionsOf(session, entries);
  // Awaited below, where it fails.
  loading.catch(() => undefined);
  const profile = await session.profile();
  const [actions, marks] = await Promise.all([loading, marksOf(session, profile, ids)]);
  const isAsked = (action: Action | null): boolean =>
    profile.checksFollows || (action !== null && (mustAskFollows(action) || mutesPasser(profile, action)));
  const asked = actions.filter(isAsked);
  const follows = asked.length === 0 ? [] : await followsOf(session, asked);
  return entries.map((entry, index) => {
    const action = actions[index] ?? null;
    const mark = marks[index] ?? null;
    return { entry, action, mark, follows: isAsked(action) ? follows : null };
  });
}

/** Their actions; only those are asked for that are not held as of the revision that was read with the entry. */
async function actionsOf(
  session: ReaderSession,
  entries: readonly FeedEntry[],
): Promise<readonly (Action | null)[]> {
  const held = entries.map(({ actionId, rev }) => (rev === undefined ? null : session.held(actionId, rev)));
  if (!held.includes(null)) return held;
  return Promise.all(
    entries.map(({ actionId }, index) => Promise.resolve(held[index] ?? session.actions.load(actionId))),
  );
}

/** The facts of one entry that is asked for by its action's id; null where the feed has none. Takes the same work either way. */
export async function hydrateOne(
  session: ReaderSession,
  actionId: ActionId,
  entry: FeedEntry | null,
): Promise<EntryFacts | null> {
  const profile = await session.profile();
  const [action, [mark = null]] = await Promise.all([
    session.actions.load(actionId),
    marksOf(session, profile, [actionId]),
  ]);
  // Also where they are not needed: how much work it is must not tell whether there is such an action, or what became of it.
  const follows = await followsOfOne(session, action);
  return entry === null ? null : { entry, action, mark, follows };
}

/**
 * What the reader said of these items, as it is at the time of the session, in their order; nothing is asked where they said
 * nothing of any. What has not been brought over yet is looked up before the place it is brought to, so that it is found
 * in one of them.
 */
async function marksOf(
  session: ReaderSession,
  { hasMarks, hasHiddenItems, asOf }: ReaderProfile,
  ids: readonly ActionId[],
): Promise<readonly (ItemMark | null)[]> {
  if (!hasMarks && !hasHiddenItems) return [];
  const hidden = hasHiddenItems ? await allOf(session.hidden.loadMany(ids)) : [];
  const marks = await allOf(session.marks.loadMany(ids));
  return ids.map((actionId, index) => {
    const said = marks[index] ?? null;
    const mark = said === null ? null : markAt(said, asOf);
    if (mark?.state != null || (hidden[index] ?? null) === null) return mark;
    return { actionId, readAt: null, isUnread: false, ...mark, state: 'HIDDEN', snooze: null };
  });
}

/** The reader's follows of any ref of these actions and of who has passed them on, in one round trip. */
export async function followsOf(
  session: ReaderSession,
  actions: readonly (Action | null)[],
): Promise<Follow[]> {
  const refIds = [...new Set(actions.flatMap((action) => (action === null ? [] : followableIds(action))))];
  if (refIds.length === 0) return [];
  return loadFollows(session, refIds);
}

/**
 * The same for a single action that is asked for by its id. Always asks, also where there is no such action or it has no
 * refs: how much work it is must not tell whether there is one.
 */
export function followsOfOne(session: ReaderSession, action: Action | null): Promise<Follow[]> {
  const refIds = action === null ? [] : followableIds(action);
  return loadFollows(session, refIds.length === 0 ? [NO_REF] : refIds);
}

/** Not an id that a ref can have. */
const NO_REF = '';

/** The reader's follows of these refs. */
export async function loadFollows(session: ReaderSession, refIds: readonly string[]): Promise<Follow[]> {
  return (await allOf(session.follows.loadMany(refIds))).filter((follow) => follow !== null);
}

/**
 * What keeps an entry out of a list, whatever it is there for. Pure, as is what follows: decided from the action as it is
 * now.
 * @param state the list: that of what the reader put into this state, or the feed.
 */
export function withheldBy(
  reader: ReaderProfile,
  {
    action,
    mark,
  }: { readonly action: MutableAction & Pick<Action, 'isHidden'>; readonly mark: ItemMark | null },
  state: ItemState | null = null,
): WithheldReason[] {
  const reasons: WithheldReason[] = [];
  if (action.isHidden) reasons.push('HIDDEN');
  if (isMutedAction(reader.mutes, action)) reasons.push('MUTED');
  const own = mark?.state ?? null;
  if (own !== null && own !== state) reasons.push(own === 'HIDDEN' ? 'HIDDEN_BY_READER' : own);
  return reasons;
}

/**
 * A feed entry as it is shown to its reader, or null when it may not be, whatever the stored feed says.
 * @param state the list: that of what the reader put into this state, or the feed.
 */
export function presentEntry(
  reader: ReaderProfile,
  facts: EntryFacts,
  state: ItemState | null = null,
): NewsfeedItem | null {
  const { entry, action, mark, follows } = facts;
  if (action === null || action.isDeleted || (mark?.state ?? null) !== state) return null;
  if (withheldBy(reader, { action, mark }, state).length > 0) return null;
  // What is pulled for the reader comes from the source, with its relevancy of now; a stored entry would be a second one.
  if (!entry.reasons.includes('PULL') && isPulledFor(reader, action)) return null;
  const reasons = currentReasons(reader, action, entry.reasons, follows);
  if (reasons.length === 0) return null;
  return {
    userId: reader.userId,
    actionId: entry.actionId,
    relevancy: entry.relevancy,
    reasons,
    action,
    isUnread: isUnreadItem(reader.lastRead, mark, entry.relevancy),
    isArchived: state === 'ARCHIVED',
    snoozedUntil: state === 'SNOOZED' ? (mark?.snooze?.until ?? null) : null,
  };
}

/** Above everything the reader has read. A bumped entry rises above it again. */
export function isAboveRead(reader: ReaderProfile, entry: Pick<FeedEntry, 'relevancy'>): boolean {
  return reader.lastRead === null || entry.relevancy.getTime() > reader.lastRead.getTime();
}

async function allOf<V>(loading: Promise<(V | Error)[]>): Promise<V[]> {
  return (await loading).map((value) => {
    if (value instanceof Error) throw value;
    return value;
  });
}
