import type { ChangeCore, Core } from '../../core/core.ts';
import type { Action, ActionId, ModerationRecord, UserId } from '../../domain/action.ts';
import { MODERATORS } from '../../domain/viewer.ts';
import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Report } from '../../domain/report.ts';
import { idBeside, hasNeighbours } from '../../domain/stored-id.ts';
import { announceWithdrawal } from '../../fan-out/announce-withdrawal.ts';
import { askedPage, collectPage } from '../../feed/page/paging.ts';
import { getAction, getScheduled } from '../../feed/page/read-actions.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { requireOneOf, validate } from '../../core/validate.ts';
import type { Page, PageArgs } from '../../core/shapes.ts';
import { clock } from '../../lib/clock.ts';
import { z } from 'zod';
import { ACTION } from '../../feed/session/load.ts';
import type { Moderation } from './store/moderation.ts';

export const reasonSchema = z
  .string()
  .max(2_000, 'Must be at most 2000 characters')
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'Must be well-formed Unicode without NUL')
  .nullish()
  .transform((reason) => reason ?? null);

/**
 * Hides an action from everybody but admins: at once through the rules, in stored feeds by the fan-out. Idempotent.
 * @throws FanfareError FORBIDDEN, NOT_FOUND, BAD_USER_INPUT
 */
export function hideAction(
  core: Core,
  session: ReaderSession,
  id: ActionId,
  reason?: string | null,
): Promise<Action> {
  return setHidden(core, session, id, 'HIDE', reason);
}

/** Shows it again. @throws FanfareError FORBIDDEN, NOT_FOUND */
export function unhideAction(core: Core, session: ReaderSession, id: ActionId): Promise<Action> {
  return setHidden(core, session, id, 'UNHIDE', null);
}

async function setHidden(
  core: Core,
  session: ReaderSession,
  id: ActionId,
  kind: 'HIDE' | 'UNHIDE',
  reason: string | null | undefined,
): Promise<Action> {
  const { identity } = session;
  requireOneOf(identity, MODERATORS);
  const why = validate(reasonSchema, reason, ['reason']);
  await refuseOthers(session, id);
  const by = identity.userId;
  const changed = await (kind === 'HIDE' ? hideForGood : showAgain)(core, id, { kind, by, reason: why });
  const action = changed ?? (await session.load(ACTION, id));
  if (action === null || action.isDeleted) throw new FanfareError('NOT_FOUND', 'There is no such action');
  return action;
}

/** The actor of the moderation log when reports or the host application hide something. */
export const automatic = (actorId: UserId): UserId => idBeside(actorId, 'automatic');

export const HELD_BY_HOST = 'Held by the host application';

/** How the log says that the host application hides what its actor wrote. */
export const heldByHost = (actorId: UserId) => ({
  reason: HELD_BY_HOST,
  by: automatic(actorId),
});

type Change = Omit<Moderation, 'at'>;

/** Also what is hidden already, but only until somebody has looked at its reports. `null`: nothing to change. */
async function hideForGood(core: Core, id: ActionId, change: Change): Promise<Action | null> {
  for (;;) {
    const changed = await core.moderation.apply(id, { ...change, at: clock.now() });
    await conclude(core, id, changed);
    if (changed !== null) return changed;
    if (await core.moderation.takeOver(id, { ...change, at: clock.now() })) {
      await core.moderation.log(id);
      await release(core, id, 'HIDDEN', change.by);
      return null;
    }
    const [action] = await core.actions.findByIds([id]);
    // Otherwise it was shown between the two.
    if (action === undefined || action.isHidden || action.isDeleted) return null;
  }
}

/** The queue of reports decides first about what it withholds: its ruling is carried out also if this call is cut off. */
async function showAgain(core: Core, id: ActionId, change: Change): Promise<Action | null> {
  const released = await release(core, id, 'SHOWN', change.by);
  const changed = await core.moderation.apply(id, { ...change, at: clock.now() });
  await conclude(core, id, changed);
  return changed ?? released;
}

/** A moderator has decided about what reports withhold, whether it is hidden already or about to be. */
async function release(
  core: Core,
  id: ActionId,
  verdict: 'SHOWN' | 'HIDDEN',
  by: UserId,
): Promise<Action | null> {
  const released = await core.reports.release({ kind: 'action', id }, verdict, by, clock.now());
  return released === null ? null : (await carryOut(core, id, released, { by, reason: null })).changed;
}

/** Hides or shows an action as its report says, unless that is done. @returns whether the action is there */
export async function carryOutOnAction(
  core: ChangeCore,
  id: ActionId,
  report: Report,
  by: Pick<Change, 'by' | 'reason'>,
): Promise<boolean> {
  return (await carryOut(core, id, report, by)).isThere;
}

async function carryOut(
  core: ChangeCore,
  id: ActionId,
  report: Report,
  by: Pick<Change, 'by' | 'reason'>,
): Promise<{ readonly isThere: boolean; readonly changed: Action | null }> {
  const { ruling } = report;
  if (ruling?.isDue !== true) return { isThere: true, changed: null };
  const ruled = await core.moderation.rule(id, ruling, { ...by, at: clock.now() });
  await conclude(core, id, ruled.changed);
  if (ruled.isThere) await core.reports.carriedOut(report);
  return ruled;
}

/** For changes that do not read the action first; free if there is nobody else's. @throws FanfareError NOT_FOUND */
async function refuseOthers(session: ReaderSession, id: ActionId): Promise<void> {
  if (!hasNeighbours(session.identity.userId) || (await session.load(ACTION, id)) !== null) return;
  throw new FanfareError('NOT_FOUND', 'There is no such action');
}

/**
 * Deletes an action: it disappears at once for everybody, admins included; its items and content are removed in the
 * background. What is scheduled is not published. Idempotent. For admins and the actor.
 * @throws FanfareError FORBIDDEN, NOT_FOUND when the viewer may not even see it.
 */
export async function deleteAction(core: Core, session: ReaderSession, id: ActionId): Promise<void> {
  const { identity } = session;
  const visible = await getAction(session, id);
  const action = await session.load(ACTION, id);
  const isAllowed = identity.roles.has('admin') || action?.actorId === identity.userId;
  // The actor may delete again what is already deleted or hidden and therefore invisible to them.
  const isSeen = visible !== null || (await getScheduled(session, id)) !== null;
  if (action === null || !(isSeen || isAllowed))
    throw new FanfareError('NOT_FOUND', 'There is no such action');
  if (!isAllowed) throw new FanfareError('FORBIDDEN', 'Only its actor or an admin can delete an action');
  const deletion: Moderation = { kind: 'DELETE', by: identity.userId, at: clock.now(), reason: null };
  const cancelled = action.publishAt === undefined ? null : await core.moderation.cancel(id, deletion);
  await conclude(core, id, cancelled ?? (await core.moderation.apply(id, deletion)), cancelled !== null);
}

/**
 * Runs even if nothing changed: the call may be the retry of an interrupted one.
 * @param wasUnseen nobody watches it
 */
async function conclude(
  core: ChangeCore,
  id: ActionId,
  changed: Action | null,
  wasUnseen = false,
): Promise<void> {
  const { moderation, workSignal } = core;
  try {
    if (changed !== null && !wasUnseen) await notifyWatchers(core, changed);
    await moderation.log(id);
  } finally {
    // After noting that watchers were notified, otherwise the pass would notify them again.
    if (changed !== null) workSignal.notify('fan-out');
  }
}

/**
 * Notifies watchers at once that an action is gone, without waiting for its pass. For an action hidden before they already
 * know. If this fails or is interrupted, the pass does it.
 */
async function notifyWatchers(core: ChangeCore, changed: Action): Promise<void> {
  const isWithdrawn = changed.isDeleted ? !changed.isHidden : changed.isHidden;
  if (!isWithdrawn || !(await announceWithdrawal(core, changed, clock.now()))) return;
  await core.moderation.noteNotified(changed.id, changed.fanOut.version, clock.now());
}

/** Moderation log, newest first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function readModerationLog(
  { moderation }: Core,
  session: ReaderSession,
  args: PageArgs & { readonly actionId?: ActionId | null | undefined },
): Promise<Page<ModerationRecord>> {
  requireOneOf(session.identity, MODERATORS);
  const actionId = args.actionId ?? null;
  const { userId } = session.identity;
  const list = idBeside(userId, `moderation:${actionId ?? ''}`);
  return collectPage<{ readonly at: Date; readonly id: string }, ModerationRecord, ModerationRecord>({
    page: askedPage(args, (cursor) => {
      const { time, actionId: id } = decodePosition(list, cursor);
      return { at: time, id };
    }),
    scan: (stretch) => moderation.list(userId, actionId, stretch),
    select: (candidates) => Promise.resolve(candidates),
    cursorOf: ({ at, id }) => encodePosition(list, { time: at, actionId: id }),
  });
}
