import type { Action, ActionId } from '../../domain/action.ts';
import { markAt, type ItemMark } from '../../domain/item-mark.ts';
import type { FeedEntry } from '../../domain/newsfeed-item.ts';
import { followableIds, orNone, mustAskFollows, mutesPasser } from '../../domain/visibility.ts';
import type { Follow, ReaderProfile } from '../../domain/viewer.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { EntryFacts } from './feed-rules.ts';

/**
 * Loads what the rules need for entries of a reader's feed: the actions, in one round trip, and what only some readers
 * have to be asked for.
 * @param lookUp the reader; may still be looked up, since the actions are asked for in the meantime.
 */
export async function hydrateEntries(
  session: ReaderSession,
  lookUp: () => Promise<ReaderProfile>,
  entries: readonly FeedEntry[],
): Promise<EntryFacts[]> {
  if (entries.length === 0) return [];
  const ids = entries.map((entry) => entry.actionId);
  const loading = actionsOf(session, entries);
  // Awaited below, where it fails.
  loading.catch(() => undefined);
  const profile = await lookUp();
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
  const cached = entries.map(({ actionId, rev }) =>
    rev === undefined ? null : session.cached(actionId, rev),
  );
  if (!cached.includes(null)) return cached;
  return Promise.all(
    entries.map(({ actionId }, index) => Promise.resolve(cached[index] ?? session.actions.load(actionId))),
  );
}

/** The facts of one entry that is asked for by its action's id; null where the feed has none. Takes the same work either way. */
export async function hydrateOne(
  session: ReaderSession,
  reader: ReaderProfile,
  { actionId, entry }: { readonly actionId: ActionId; readonly entry: FeedEntry | null },
): Promise<EntryFacts | null> {
  const [action, [mark = null]] = await Promise.all([
    session.actions.load(actionId),
    marksOf(session, reader, [actionId]),
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

/** For one action by its id. Always asks, even without action or refs: the work must not tell whether there is one. */
export function followsOfOne(session: ReaderSession, action: Action | null): Promise<Follow[]> {
  return loadFollows(session, orNone(action === null ? [] : followableIds(action)));
}

export async function loadFollows(session: ReaderSession, refIds: readonly string[]): Promise<Follow[]> {
  return (await allOf(session.follows.loadMany(refIds))).filter((follow) => follow !== null);
}

async function allOf<V>(loading: Promise<(V | Error)[]>): Promise<V[]> {
  return (await loading).map((value) => {
    if (value instanceof Error) throw value;
    return value;
  });
}
