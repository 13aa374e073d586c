import type { Action, ActionId } from '../../domain/action.ts';
import { type FeedEntry, markAt, type ItemMark } from '../../domain/newsfeed-item.ts';
import { blocksAsked, followableIds, orNone, mustAskFollows, mutesPasser } from '../../domain/visibility.ts';
import type { Follow, ReaderProfile } from '../../domain/viewer.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { EntryFacts } from './feed-rules.ts';
import { learnBlocks } from '../loads/own-blocks.ts';
import { loadFollows } from '../loads/own-follows.ts';
import { ACTION, readerActionLoad } from '../session/load.ts';

export const ITEM_MARK = readerActionLoad(({ itemMarks }, pairs) => itemMarks.findPairs(pairs));

/** The reader's marks on these items as of the session's time, in the same order; no query when the reader has no marks. */
export async function marksOf(
  session: ReaderSession,
  { hasMarks, asOf }: ReaderProfile,
  ids: readonly ActionId[],
): Promise<readonly (ItemMark | null)[]> {
  if (!hasMarks) return [];
  const marks = await session.loadMany(ITEM_MARK, ids);
  return marks.map((mark) => (mark === null ? null : markAt(mark, asOf)));
}

/**
 * Loads what the rules need for feed entries: the actions in one round trip, and facts that only some readers have.
 * @param lookUp loads the reader, possibly while the actions are being loaded.
 */
export async function hydrate(
  session: ReaderSession,
  lookUp: () => Promise<ReaderProfile>,
  entries: readonly FeedEntry[],
): Promise<EntryFacts[]> {
  if (entries.length === 0) return [];
  const ids = entries.map((entry) => entry.actionId);
  const loading = actionsOf(session, entries);
  // Awaited below, where a failure is handled.
  loading.catch(() => undefined);
  const profile = await lookUp();
  const [actions, marks] = await Promise.all([loading, marksOf(session, profile, ids)]);
  const isAsked = (action: Action | null): boolean =>
    profile.checksFollows || (action !== null && (mustAskFollows(action) || mutesPasser(profile, action)));
  const asked = actions.filter(isAsked);
  const follows = asked.length === 0 ? [] : await followsOf(session, asked);
  await learnOfActions(session, profile, actions, follows);
  return entries.map((entry, index) => {
    const action = actions[index] ?? null;
    const mark = marks[index] ?? null;
    return { entry, action, mark, follows: isAsked(action) ? follows : null };
  });
}

/** The actions of the entries. Actions cached at the revision read with the entry are not requested. */
export async function actionsOf(
  session: ReaderSession,
  entries: readonly Pick<FeedEntry, 'actionId' | 'rev'>[],
): Promise<readonly (Action | null)[]> {
  // A list that few get through reads on and on, and may find all it needs in the process.
  session.reading.check();
  const cached = entries.map(({ actionId, rev }) =>
    rev === undefined ? null : session.cached(actionId, rev),
  );
  if (!cached.includes(null)) return cached;
  return Promise.all(
    entries.map(({ actionId, rev }, index) =>
      Promise.resolve(cached[index] ?? session.loadAt(actionId, rev)),
    ),
  );
}

/** Facts about the entry of one action; `null` when it is not in the feed. Costs the same in both cases. */
export async function hydrateOne(
  session: ReaderSession,
  reader: ReaderProfile,
  { actionId, entry }: { readonly actionId: ActionId; readonly entry: FeedEntry | null },
): Promise<EntryFacts | null> {
  const [action, [mark = null]] = await Promise.all([
    session.load(ACTION, actionId),
    marksOf(session, reader, [actionId]),
  ]);
  // Loaded even when not needed: the cost must not reveal whether the action exists or in which state it is.
  const follows = await followsOfOne(session, action);
  await learnOfActions(session, reader, [action], follows);
  return entry === null ? null : { entry, action, mark, follows };
}

/** Asks about blocks for the rules of these actions. No command for readers whose blocks are all known. */
export async function learnOfActions(
  session: ReaderSession,
  reader: Pick<ReaderProfile, 'userId' | 'blocks'>,
  actions: readonly (Action | null)[],
  follows: readonly Follow[],
): Promise<void> {
  if (reader.blocks.isWhole) return;
  const asked = actions.flatMap((action) => (action === null ? [] : blocksAsked(action, follows)));
  await learnBlocks(session, reader, asked);
}

/** The reader's follows of all refs and resharers of these actions, in one round trip. */
export async function followsOf(
  session: ReaderSession,
  actions: readonly (Action | null)[],
): Promise<Follow[]> {
  const refIds = [...new Set(actions.flatMap((action) => (action === null ? [] : followableIds(action))))];
  if (refIds.length === 0) return [];
  return loadFollows(session, refIds);
}

/** The same for one action. Queries even without an action or refs: the cost must not reveal whether the action exists. */
export function followsOfOne(session: ReaderSession, action: Action | null): Promise<Follow[]> {
  return loadFollows(session, orNone(action === null ? [] : followableIds(action)));
}
