import type { Core } from '../../core/core.ts';
import { z } from 'zod';
import { SCOPES, type Action, type ActionId, type ActionRef, type UserId } from '../../domain/action.ts';
import type { ActionContent } from '../../domain/edit.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { isAffectedByBlocks } from '../../domain/viewer.ts';
import { encodeActionId } from '../../domain/node-ids.ts';
import { clock } from '../../lib/clock.ts';
import { carryOutOnAction, heldByHost } from '../moderation/moderate-action.ts';
import { isHeld } from './ask-host.ts';
import { getAction, mayEdit } from '../../feed/page/read-actions.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import type { UpdateActionInput } from '../../core/shapes.ts';
import { validate } from '../../core/validate.ts';
import {
  audienceKeys,
  blockedWithin,
  checkDescriptor,
  givenRefsOf,
  groupsOf,
  lacksGroup,
  nameRefs,
  noGroup,
  peopleKeys,
  refIdsOf,
  refsSchema,
  refuseOtherVoices,
  requireWithinYear,
  userIdsSchema,
  withOwnRefs,
  type Groups,
} from './action-parts.ts';
import { ACTION } from '../../feed/session/load.ts';

const inputSchema = z
  .strictObject({
    descriptor: z.looseObject({}).optional(),
    refs: refsSchema.optional(),
    mentions: userIdsSchema.optional(),
    scope: z.enum(SCOPES).optional(),
    recipients: userIdsSchema.optional(),
    expiresAt: z.date().nullable().optional(),
    publishAt: z.date().optional(),
  })
  .superRefine((input, context) => {
    if (Object.values(input).every((value) => value === undefined))
      context.addIssue({ code: 'custom', message: 'Must give at least one field' });
  });

type CheckedEdit = Omit<z.output<typeof inputSchema>, 'descriptor'> & {
  readonly descriptor?: Action['descriptor'];
};

const PATH = ['input'];

/**
 * Replaces the given fields of an action in one write. Readers who lose access lose it at once; stored feeds follow in the
 * background. Edits by others than the actor are recorded in the moderation log. The host is asked first.
 * @throws FanfareError BAD_USER_INPUT, FORBIDDEN, NOT_FOUND, CONFLICT when `ifVersion` is not the action's version.
 */
export async function updateAction(
  core: Core,
  session: ReaderSession,
  id: ActionId,
  input: UpdateActionInput,
  ifVersion?: number | null,
): Promise<Action> {
  const { edits, fanOuts, members, moderation, workSignal } = core;
  const { identity } = session;
  const checked = check(input);
  const known = await requireEditable(session, id);
  requireScheduled(known, checked);
  checkExpiry(checked, (checked.publishAt ?? known.conducted).getTime());
  if (checked.descriptor !== undefined && !identity.roles.has('service'))
    refuseOtherVoices(checked.descriptor, known.actorId, [...PATH, 'descriptor']);
  const { scope } = checked;
  const groups: Groups =
    scope === undefined ? new Map() : await groupsOf(members, [{ scope, actor: known.actorId }]);
  requireUnchangedSince(known, ifVersion ?? null);
  const edited = { ...known, ...changedBy(known, checked, groups) };
  const isHeld = await isEditHeld(core, identity.userId, edited);
  // What is scheduled comes into the queue when it is published.
  const isToHold = isHeld && known.publishAt === undefined;
  if (isToHold) await hold(core, known, known.version + 1);
  const [blocked] = await blockedWithin(core, [{ ...edited, isOfHost: !isAffectedByBlocks(identity) }]);
  const changed = await edits.edit(id, {
    change(action) {
      requireUnchangedSince(action, ifVersion ?? null);
      requireScheduled(action, checked);
      return changedBy(action, checked, groups);
    },
    ...{ blocked, isHeld },
    by: identity.userId,
    at: clock.now(),
    lane: await fanOuts.laneFor(known.actorId, 1),
    isLogged: known.actorId !== identity.userId,
  });
  if (changed === null)
    throw new FanfareError('CONFLICT', 'The action was changed at the same time: read it again');
  try {
    if (known.actorId !== identity.userId) await moderation.log(id);
    if (changed.publishAt === undefined) await nameRefs(core, [changed]);
    // A moderator may have decided meanwhile about what was there before.
    if (isToHold) await hold(core, known, changed.version);
  } finally {
    workSignal.notify('fan-out');
  }
  return changed;
}

/** Hides it before it is changed: whatever interrupts the call, nothing is hidden that is not in the queue. */
async function hold(core: Core, { id, actorId }: Action, version: number): Promise<void> {
  const held = await core.reports.hold({ kind: 'action', actionId: id, actorId }, clock.now(), version);
  await carryOutOnAction(core, id, held, heldByHost(actorId));
}

/** Whether the host holds what the action will be. @throws FanfareError FORBIDDEN if the host refuses it, UNAVAILABLE */
async function isEditHeld({ hooks: { beforePublish } }: Core, by: UserId, edited: Action): Promise<boolean> {
  if (beforePublish === null) return false;
  const { id, actorId, scope, recipients, mentions, descriptor } = edited;
  return isHeld(beforePublish, actorId, {
    ...{ actionId: encodeActionId(id), by, actorId, scope, recipients, mentions, descriptor },
    refs: givenRefsOf(edited),
  });
}

function check(input: UpdateActionInput): CheckedEdit {
  const { descriptor, ...checked } = validate(inputSchema, { ...input }, PATH);
  checkExpiry(checked, clock.time());
  if (checked.publishAt !== undefined && checked.publishAt.getTime() <= clock.time())
    throw badInput('Must be later than now', [...PATH, 'publishAt']);
  requireWithinYear(checked.publishAt ?? null, PATH);
  if (descriptor === undefined) return checked;
  return { ...checked, descriptor: checkDescriptor(descriptor, [...PATH, 'descriptor']) };
}

function checkExpiry({ expiresAt }: CheckedEdit, after: number): void {
  if (expiresAt != null && expiresAt.getTime() <= after)
    throw badInput('Must be later than now and than conducted', [...PATH, 'expiresAt']);
}

/** What is published already cannot be put off, and what is published meanwhile is another thing to edit. */
function requireScheduled({ publishAt, expiresAt, isDeleted }: Action, edit: CheckedEdit): void {
  if (edit.publishAt === undefined) return;
  if (publishAt === undefined && !isDeleted)
    throw new FanfareError('CONFLICT', 'The action is published already');
  const end = edit.expiresAt === undefined ? expiresAt : edit.expiresAt;
  if (end !== null && end.getTime() <= edit.publishAt.getTime())
    throw badInput('Must be earlier than expiresAt', [...PATH, 'publishAt']);
}

/**
 * A service has the rights of the actor, who sees their own action unless it is hidden or gone.
 * @throws FanfareError NOT_FOUND when the viewer may not even see it, FORBIDDEN when they may not edit it.
 */
async function requireEditable(session: ReaderSession, id: ActionId): Promise<Action> {
  const { identity } = session;
  const visible = await getAction(session, id);
  const action = await session.load(ACTION, id);
  if (action?.publishAt !== undefined && mayEdit(identity, action)) return action;
  const isForActor =
    identity.roles.has('service') && action !== null && !action.isHidden && !action.isDeleted;
  if (action === null || (visible === null && !isForActor))
    throw new FanfareError('NOT_FOUND', 'There is no such action');
  if (!mayEdit(identity, action))
    throw new FanfareError('FORBIDDEN', 'Only its actor, a service or an admin can edit an action');
  return action;
}

function requireUnchangedSince({ isDeleted, publishAt, version }: Action, ifVersion: number | null): void {
  if (isDeleted && publishAt === undefined) throw new FanfareError('NOT_FOUND', 'There is no such action');
  if (ifVersion !== null && ifVersion !== version)
    throw new FanfareError(
      'CONFLICT',
      `The action has version ${String(version)}, and ifVersion is ${String(ifVersion)}`,
    );
}

/** Given fields replace, absent ones stay. Recipients are removed when the scope is no longer RESTRICTED. */
function changedBy(action: Action, edit: CheckedEdit, groups: Groups): ActionContent {
  const scope = edit.scope ?? action.scope;
  const isRestricted = scope === 'RESTRICTED';
  const recipients = edit.recipients ?? (isRestricted ? action.recipients : []);
  if (isRestricted && recipients.length === 0)
    throw badInput('Must name 1 to 1000 readers of a RESTRICTED action', [...PATH, 'recipients']);
  if (!isRestricted && recipients.length > 0)
    throw badInput('Must be omitted unless the scope is RESTRICTED', [...PATH, 'recipients']);
  const { descriptor = action.descriptor, mentions = action.mentions } = edit;
  if (descriptor.type !== action.descriptor.type)
    throw badInput(`Must be of the type ${action.descriptor.type}, got ${descriptor.type}`, [
      ...PATH,
      'descriptor',
    ]);
  const group = groups.get(action.actorId) ?? null;
  if (edit.scope !== undefined && lacksGroup(edit.scope, group)) throw noGroup(edit.scope, PATH);
  const { refs, givenRefs } = refsAfter(action, edit);
  const people = { mentions, recipients, descriptor };
  return {
    ...{ scope, descriptor, refs, givenRefs, mentions, recipients },
    audience:
      edit.scope === undefined
        ? [...action.audience.filter(isOfScope), ...peopleKeys(people)]
        : audienceKeys({ scope, ...people }, group),
    refIds: refIdsOf(refs, action.actorId),
    expiresAt: edit.expiresAt === undefined ? action.expiresAt : edit.expiresAt,
    ...scheduledFor(edit.publishAt ?? action.publishAt),
  };
}

const scheduledFor = (publishAt: Date | undefined) => (publishAt === undefined ? {} : { publishAt });

/** Refs derived from the old descriptor are replaced by those of the new one. */
function refsAfter(
  action: Action,
  { refs, descriptor }: CheckedEdit,
): { readonly refs: readonly ActionRef[]; readonly givenRefs: number | null } {
  if (refs === undefined && descriptor === undefined) return action;
  return withOwnRefs(refs ?? givenRefsOf(action), descriptor ?? action.descriptor);
}

/** The actor's group at the time the scope was set. */
function isOfScope(key: string): boolean {
  return !key.startsWith('user:') && !key.startsWith('notified:');
}
