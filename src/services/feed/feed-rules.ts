import type { Action, ActionId } from '../../domain/action.ts';
import type { FeedEntry, NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { isPulledFor, currentReasons } from '../../domain/visibility.ts';
import type { Follow, ReaderProfile } from '../../domain/viewer.ts';
import type { ReaderSession } from '../session/reader-session.ts';

/** What the rules are decided from, besides the reader. */
export interface EntryFacts {
  readonly entry: FeedEntry;
  readonly action: Action | null;
  /** The reader has hidden it from their feed. */
  readonly isHiddenByReader: boolean;
  /** The reader's follows of the action's refs; null where a delivered follow is known to stand. */
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
  const profile = await session.profile();
  const ids = entries.map((entry) => entry.actionId);
  const [actions, hidden] = await Promise.all([
    allOf(session.actions.loadMany(ids)),
    profile.hasHiddenItems ? allOf(session.hidden.loadMany(ids)) : [],
  ]);
  const follows = profile.checksFollows ? await followsOf(session, actions) : null;
  return entries.map((entry, index) => ({
    entry,
    action: actions[index] ?? null,
    isHiddenByReader: (hidden[index] ?? null) !== null,
    follows,
  }));
}

/** The facts of one entry that is asked for by its action's id; null where the feed has none. Takes the same work either way. */
export async function hydrateOne(
  session: ReaderSession,
  actionId: ActionId,
  entry: FeedEntry | null,
): Promise<EntryFacts | null> {
  const profile = await session.profile();
  const [action, hidden] = await Promise.all([
    session.actions.load(actionId),
    profile.hasHiddenItems ? session.hidden.load(actionId) : null,
  ]);
  const follows = profile.checksFollows ? await followsOfOne(session, action) : null;
  return entry === null ? null : { entry, action, isHiddenByReader: hidden !== null, follows };
}

/** The reader's follows of any ref of these actions, in one round trip. */
export async function followsOf(
  session: ReaderSession,
  actions: readonly (Action | null)[],
): Promise<Follow[]> {
  const refIds = [...new Set(actions.flatMap((action) => action?.refIds ?? []))];
  if (refIds.length === 0) return [];
  return loadFollows(session, refIds);
}

/**
 * The same for a single action that is asked for by its id. Always asks, also where there is no such action or it has no
 * refs: how much work it is must not tell whether there is one.
 */
export function followsOfOne(session: ReaderSession, action: Action | null): Promise<Follow[]> {
  const refIds = action?.refIds ?? [];
  return loadFollows(session, refIds.length === 0 ? [NO_REF] : refIds);
}

/** Not an id that a ref can have. */
const NO_REF = '';

async function loadFollows(session: ReaderSession, refIds: readonly string[]): Promise<Follow[]> {
  return (await allOf(session.follows.loadMany(refIds))).filter((follow) => follow !== null);
}

/**
 * A feed entry as it is shown to its reader, or null when it may not be. Pure: decided from the action as it is now,
 * whatever the stored feed says.
 */
export function presentEntry(reader: ReaderProfile, facts: EntryFacts): NewsfeedItem | null {
  const { entry, action, isHiddenByReader, follows } = facts;
  if (action === null || action.isDeleted || action.isHidden) return null;
  if (isHiddenByReader || reader.muted.has(action.actorId)) return null;
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
    isUnread: isUnread(reader, entry),
  };
}

/** Above the mark up to which the reader has read. A bumped entry rises above it again. */
export function isUnread(reader: ReaderProfile, entry: Pick<FeedEntry, 'relevancy'>): boolean {
  return reader.lastRead === null || entry.relevancy.getTime() > reader.lastRead.getTime();
}

async function allOf<V>(loading: Promise<(V | Error)[]>): Promise<V[]> {
  return (await loading).map((value) => {
    if (value instanceof Error) throw value;
    return value;
  });
}
