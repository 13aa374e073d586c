import type { Core } from '../../core/core.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import { FanfareError, badInput } from '../../domain/errors.ts';
import { type ItemState, rowOf } from '../../domain/item-states.ts';
import { markAt } from '../../domain/newsfeed-item.ts';
import { announce, removals, updates } from '../../feed/announce.ts';
import { readListedActions } from '../../feed/page/listed-actions.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import type { CountedPage, PageArgs } from '../../core/shapes.ts';
import { clock } from '../../lib/clock.ts';
import { ITEM_MARK } from '../../feed/page/hydration.ts';
import { MAX_MARKED_UNREAD } from './store/item-marks.ts';
import { openSession } from '../../feed/session/open-session.ts';

/** One leap year. */
const MAX_AHEAD_MS = 366 * 86_400_000;

/**
 * Takes an item out of the reader's feed, also when it is delivered again. The stored entry stays; the rules skip it.
 * Replaces the item's previous state.
 * @param until of a state that ends: the item then returns with at least that relevancy. Bumps do not end it.
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND when the reader may not see the action, CONFLICT when too many items have
 *   the state.
 */
export async function setItemState(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
  state: ItemState,
  until?: Date,
): Promise<void> {
  const { feeds, itemMarks, markEnds } = core;
  const { userId } = session.identity;
  const now = clock.now();
  if (until !== undefined) requireTime(until, now);
  await requireAction(session, actionId);
  await requireRoom(core, session, actionId, state, now);
  await feeds.markHasMarks(userId, { hasEnds: until !== undefined });
  if (until === undefined) await itemMarks.set(userId, actionId, state, now);
  else await markEnds.set(userId, actionId, state, until, now);
  await Promise.all([
    announce(core, removals(actionId, [userId], now)),
    until === undefined ? null : markEnds.forgetOld(userId, now),
  ]);
}

/**
 * Returns an item to the feed, where it was before, if it is in this state.
 * @throws FanfareError NOT_FOUND when it is not visible.
 */
export async function clearItemState(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
  state: ItemState,
): Promise<void> {
  const { userId } = session.identity;
  await requireAction(session, actionId);
  const { ends } = rowOf(state);
  if (ends) await core.markEnds.clear(userId, actionId, state, clock.now());
  else await core.itemMarks.clear(userId, actionId, state);
  // Items that have returned may have been read before.
  await announceBack(core, ends ? openSession(core, session.identity) : session, actionId);
}

function requireTime(until: Date, now: Date): void {
  const ahead = until.getTime() - now.getTime();
  if (Number.isNaN(ahead) || ahead <= 0) throw badInput('Must be later than now', ['until']);
  if (ahead > MAX_AHEAD_MS) throw badInput('Must be at most a year from now', ['until']);
}

/** Concurrent calls may exceed the limit by one. */
async function requireRoom(
  { itemMarks, markEnds }: Core,
  session: ReaderSession,
  actionId: ActionId,
  state: ItemState,
  now: Date,
): Promise<void> {
  const { most, ends, list } = rowOf(state);
  if (list === null) return;
  const { userId } = session.identity;
  const mark = await session.load(ITEM_MARK, actionId);
  if (mark !== null && markAt(mark, now).state === state) return;
  const count = ends
    ? (await markEnds.ahead(userId, state, now)).length
    : await itemMarks.count(userId, state, most);
  if (count >= most)
    throw new FanfareError('CONFLICT', `No more than ${String(most)} items can be ${list[0]}`);
}

const MAX_MARKED_AT_ONCE = 100;

/**
 * Marks items as read where they stand, independent of the read mark: a bump makes an item unread again, however old it is.
 * If an action is not in the feed, all that has boosted it so far is read.
 * @throws FanfareError BAD_USER_INPUT; NOT_FOUND when one of them is not visible, and then none is marked.
 */
export async function markItemsRead(
  core: Core,
  session: ReaderSession,
  actionIds: readonly ActionId[],
): Promise<void> {
  const { userId } = session.identity;
  const actions = await requireActions(session, actionIds);
  const [entries] = await Promise.all([
    core.feedReader.find(await session.profile(), idsOf(actions)),
    core.feeds.markHasMarks(userId),
  ]);
  const places = new Map(entries.map(({ actionId, relevancy }) => [actionId, relevancy]));
  await core.itemMarks.markRead(
    userId,
    actions.map(({ id, latest }) => ({ actionId: id, readAt: clock.mark(places.get(id) ?? latest) })),
  );
  await announce(core, updates(userId, entries));
}

/**
 * Items stay unread until marked read individually.
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND, CONFLICT: none is marked.
 */
export async function markItemsUnread(
  core: Core,
  session: ReaderSession,
  actionIds: readonly ActionId[],
): Promise<void> {
  const { userId } = session.identity;
  const ids = idsOf(await requireActions(session, actionIds));
  const all = new Set([...(await core.itemMarks.unread(userId)), ...ids]);
  if (all.size > MAX_MARKED_UNREAD)
    throw new FanfareError(
      'CONFLICT',
      `No more than ${String(MAX_MARKED_UNREAD)} items can be marked as unread`,
    );
  await core.feeds.markHasMarks(userId, { hasUnreadMarks: true });
  await core.itemMarks.markUnread(userId, ids);
  const entries = await core.feedReader.find(await session.profile(), ids);
  await announce(core, updates(userId, entries));
}

/** Deduplicates. Costs the same for invisible and for missing actions. */
async function requireActions(session: ReaderSession, actionIds: readonly ActionId[]): Promise<Action[]> {
  const ids = [...new Set(actionIds)];
  if (actionIds.length < 1 || actionIds.length > MAX_MARKED_AT_ONCE)
    throw badInput(
      `Must have from 1 to ${String(MAX_MARKED_AT_ONCE)} entries, got ${String(actionIds.length)}`,
      ['actionIds'],
    );
  return Promise.all(ids.map((id) => requireAction(session, id)));
}

function idsOf(actions: readonly Action[]): ActionId[] {
  return actions.map(({ id }) => id);
}

/** Notifies the reader's watchers if an item is back in the feed. */
export async function announceBack(core: Core, session: ReaderSession, actionId: ActionId): Promise<void> {
  const { userId } = session.identity;
  const entries = await core.feedReader.find(await session.profile(), [actionId]);
  await announce(
    core,
    entries.map((entry) => ({ userId, event: { kind: 'added', ...entry } })),
  );
}

/**
 * Hidden items that the reader may see, newest first.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export function readHiddenItems(
  { itemMarks }: Core,
  session: ReaderSession,
  args: PageArgs,
): Promise<CountedPage<Action>> {
  const { userId } = session.identity;
  return readListedActions(session, {
    list: `hidden:${userId}`,
    args,
    scan: (stretch) => itemMarks.list(userId, 'HIDDEN', stretch),
  });
}
