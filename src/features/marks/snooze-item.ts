import type { Core } from '../core.ts';
import type { ActionId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { hasEnded } from '../../domain/newsfeed-item.ts';
import { clock } from '../../lib/clock.ts';
import { announce, removals } from '../../feed/announce.ts';
import { MAX_SNOOZED } from './store/snoozes.ts';
import { openSession } from '../../feed/session/open-session.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { announceBack } from './item-state.ts';
import { requireAction } from '../../feed/page/read-actions.ts';
import { ITEM_MARK } from './own-marks.ts';

/** One leap year. */
const MAX_SNOOZE_MS = 366 * 86_400_000;

/**
 * Takes an item out of the reader's feed until a time; it then returns with at least that relevancy. Replaces the item's
 * previous state. Bumps do not end a snooze.
 * @throws FanfareError BAD_USER_INPUT, NOT_FOUND when the reader may not see the action, CONFLICT when too many are
 *   snoozed.
 */
export async function snoozeFeedItem(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
  until: Date,
): Promise<void> {
  const { feeds, snoozes } = core;
  const { userId } = session.identity;
  const now = clock.now();
  requireTime(until, now);
  await requireAction(session, actionId);
  await requireRoom(core, session, actionId, now);
  await feeds.markHasMarks(userId, { hasSnoozes: true });
  await snoozes.set(userId, actionId, until, now);
  await Promise.all([announce(core, removals(actionId, [userId], now)), snoozes.forgetOld(userId, now)]);
}

/** Returns a snoozed item to its original position. @throws FanfareError NOT_FOUND when it is not visible. */
export async function unsnoozeFeedItem(
  core: Core,
  session: ReaderSession,
  actionId: ActionId,
): Promise<void> {
  await requireAction(session, actionId);
  await core.snoozes.clear(session.identity.userId, actionId, clock.now());
  await announceBack(core, openSession(core, session.identity), actionId);
}

function requireTime(until: Date, now: Date): void {
  const ahead = until.getTime() - now.getTime();
  if (Number.isNaN(ahead) || ahead <= 0) throw badInput('Must be later than now', ['until']);
  if (ahead > MAX_SNOOZE_MS) throw badInput('Must be at most a year from now', ['until']);
}

async function requireRoom(
  { snoozes }: Core,
  session: ReaderSession,
  actionId: ActionId,
  now: Date,
): Promise<void> {
  const [mark, count] = await Promise.all([
    session.load(ITEM_MARK, actionId),
    snoozes.countActive(session.identity.userId, now, MAX_SNOOZED),
  ]);
  const isSnoozed = mark?.snooze != null && !hasEnded(mark.snooze, now);
  if (count === MAX_SNOOZED && !isSnoozed)
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_SNOOZED)} items can be snoozed`);
}
