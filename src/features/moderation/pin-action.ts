import type { Core } from '../../core/core.ts';
import type { Action, ActionId, RefId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import type { Ref } from '../../domain/member.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { PinsRepository } from './store/pins.ts';
import { entitledActions } from '../../feed/page/entitled.ts';
import { refOf } from '../directory/read-directory.ts';
import { requireOneOf, validate } from '../../core/validate.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { REF_DETAILS } from '../../feed/loads/names.ts';
import { ACTION } from '../../feed/session/load.ts';

export const MAX_PINNED = 3;

/**
 * Pins an action to the top of the page of one of its refs. Idempotent. For admins and services, who may list every action.
 * Visibility is decided at read time.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, NOT_FOUND, CONFLICT for a fourth pin.
 */
export async function pinAction(
  core: Core,
  session: ReaderSession,
  refId: RefId,
  actionId: ActionId,
): Promise<Ref> {
  requireOneOf(session.identity, ['admin', 'service']);
  const { pins } = core;
  const id = validate(idSchema, refId, ['refId']);
  const action = await session.load(ACTION, actionId);
  if (action === null || action.isDeleted) throw new FanfareError('NOT_FOUND', 'There is no such action');
  if (!isPinnable(action, id)) throw badInput('Must be an action that carries the ref', ['actionId']);
  const isPinned =
    (await pins.pin(id, actionId, MAX_PINNED)) ||
    ((await dropStale(pins, session, id)) && (await pins.pin(id, actionId, MAX_PINNED)));
  if (!isPinned)
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_PINNED)} actions can be pinned to a ref`);
  return refOf(session, id);
}

/** Removes a pin, if there is one; the action need not exist any more. @throws FORBIDDEN, BAD_USER_INPUT */
export async function unpinAction(
  core: Core,
  session: ReaderSession,
  refId: RefId,
  actionId: ActionId,
): Promise<Ref> {
  requireOneOf(session.identity, ['admin', 'service']);
  const id = validate(idSchema, refId, ['refId']);
  await core.pins.unpin([id], [actionId]);
  return refOf(session, id);
}

/** Pins of a ref that the reader may see, latest first. */
export async function readPinned(session: ReaderSession, refId: RefId): Promise<Action[]> {
  const details = await session.load(REF_DETAILS, refId);
  if (details === null || details.pinned.length === 0) return [];
  const actions = await session.loadMany(ACTION, details.pinned);
  return entitledActions(
    session,
    actions.filter((action) => action !== null).filter((action) => isPinnable(action, refId)),
  );
}

/** Removes pins of deleted actions and of actions that no longer have the ref. Returns whether there were any. */
async function dropStale(pins: PinsRepository, session: ReaderSession, refId: RefId): Promise<boolean> {
  const pinned = await pins.of(refId);
  const actions = await session.loadMany(ACTION, pinned);
  const stale = pinned.filter((_id, index) => {
    const action = actions[index] ?? null;
    return action === null || !isPinnable(action, refId);
  });
  await pins.unpin([refId], stale);
  return stale.length > 0;
}

function isPinnable({ refIds, isDeleted }: Action, refId: RefId): boolean {
  return !isDeleted && refIds.includes(refId);
}
