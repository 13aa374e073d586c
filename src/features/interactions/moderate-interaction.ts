import type { ChangeCore, Core } from '../../core/core.ts';
import type { Action, UserId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { encodeActionId, encodeInteractionId } from '../../domain/node-ids.ts';
import { MODERATORS } from '../../domain/viewer.ts';
import { interactionVersion, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import type { Report } from '../../domain/report.ts';
import type { EngagementChange } from '../../storage/stages/interaction-stages.ts';
import type { ChangedHidden, KnownInteraction, SettlingToken } from './store/interaction-records.ts';
import { heldByHost, reasonSchema } from '../moderation/moderate-action.ts';
import { isHeld } from '../publish/ask-host.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { requireOneOf, validate } from '../../core/validate.ts';
import { clock } from '../../lib/clock.ts';
import { commentSchema } from './add-interaction.ts';
import { findShown, isAdmin, type ShownInteraction } from './read-interactions.ts';
import { noSuchInteraction, settleInteraction, settleUnknown, takenFrom } from './settle-interaction.ts';

/**
 * Hides an interaction from everybody but admins. Updates counts, viewer state and scores; boosts stay. Idempotent; each
 * change is recorded in the moderation log.
 * @throws FanfareError FORBIDDEN, NOT_FOUND, BAD_USER_INPUT
 */
export function hideInteraction(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
  reason?: string | null,
): Promise<Interaction> {
  return setHidden(core, session, id, { kind: 'HIDE_INTERACTION', reason });
}

/** Shows it again. @throws FanfareError FORBIDDEN, NOT_FOUND */
export function unhideInteraction(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
): Promise<Interaction> {
  return setHidden(core, session, id, { kind: 'UNHIDE_INTERACTION', reason: null });
}

async function setHidden(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
  {
    kind,
    reason,
  }: {
    readonly kind: 'HIDE_INTERACTION' | 'UNHIDE_INTERACTION';
    readonly reason: string | null | undefined;
  },
): Promise<Interaction> {
  const { identity } = session;
  requireOneOf(identity, MODERATORS);
  const why = validate(reasonSchema, reason, ['reason']);
  const found = await requireShown(core, session, id);
  const change = { kind, reason: why, by: identity.userId };
  return kind === 'HIDE_INTERACTION' ? hideForGood(core, found, change) : showAgain(core, found, change);
}

/** Also what is hidden already, but only until somebody has looked at its reports. */
async function hideForGood(core: Core, found: ShownInteraction, change: HiddenChange): Promise<Interaction> {
  const { interaction } = found;
  const hidden = await changeHidden(core, found, change);
  if (hidden !== null) return hidden;
  if (await core.interactions.takeOver(interaction, { ...change, at: clock.now() })) {
    await core.interactions.logModeration(interaction);
    await release(core, interaction.id, 'HIDDEN', change.by);
    return interaction;
  }
  const known = (await core.interactions.find(interaction.id)) ?? found;
  // It was shown between the two.
  if (known.interaction.state === 'VISIBLE') return hideForGood(core, { ...found, ...known }, change);
  return unchanged(core, found);
}

/** The queue of reports decides first about what it withholds: its ruling is carried out also if this call is cut off. */
async function showAgain(core: Core, found: ShownInteraction, change: HiddenChange): Promise<Interaction> {
  const released = await release(core, found.interaction.id, 'SHOWN', change.by);
  return (await changeHidden(core, found, change)) ?? released ?? unchanged(core, found);
}

/** A moderator has decided about what reports withhold, whether it is hidden already or about to be. */
async function release(
  core: Core,
  id: InteractionId,
  verdict: 'SHOWN' | 'HIDDEN',
  by: UserId,
): Promise<Interaction | null> {
  const released = await core.reports.release({ kind: 'interaction', id }, verdict, by, clock.now());
  return released === null ? null : (await carryOut(core, id, released, { by, reason: null })).changed;
}

/** Hides or shows an interaction as its report says, unless that is done. @returns whether the interaction is there */
export async function carryOutOnInteraction(
  core: ChangeCore,
  id: InteractionId,
  report: Report,
  by: Pick<HiddenChange, 'by' | 'reason'>,
): Promise<boolean> {
  return (await carryOut(core, id, report, by)).isThere;
}

async function carryOut(
  core: ChangeCore,
  id: InteractionId,
  report: Report,
  by: Pick<HiddenChange, 'by' | 'reason'>,
): Promise<{ readonly isThere: boolean; readonly changed: Interaction | null }> {
  const { ruling } = report;
  if (ruling?.isDue !== true) return { isThere: true, changed: null };
  const found = await core.interactions.find(id);
  if (found === null) return { isThere: false, changed: null };
  const [action] = await core.actions.findByIds([found.interaction.actionId]);
  const changed = await core.interactions.rule(found.interaction, ruling, { ...by, at: clock.now() });
  const shown = changed === null || action === undefined ? null : await concludeHidden(core, action, changed);
  await core.reports.carriedOut(report);
  return { isThere: true, changed: shown };
}

interface HiddenChange {
  readonly kind: 'HIDE_INTERACTION' | 'UNHIDE_INTERACTION';
  readonly reason: string | null;
  readonly by: UserId;
}

/** `null`: it is so already. */
async function changeHidden(
  core: Core,
  found: ShownInteraction,
  { kind, reason, by }: HiddenChange,
): Promise<Interaction | null> {
  const changed = await core.interactions.setHidden(found.interaction, { kind, reason, by, at: clock.now() });
  return changed === null ? null : concludeHidden(core, found.action, changed);
}

async function concludeHidden(
  core: ChangeCore,
  action: Action,
  changed: ChangedHidden,
): Promise<Interaction> {
  const { at, reaction, kind: of, state } = changed.interaction;
  const change: EngagementChange =
    state === 'HIDDEN'
      ? await takenFrom(core, action, changed.interaction, 1)
      : { kind: 'given', of, reaction, at };
  return conclude(core, changed, change);
}

/**
 * Replaces the text of a comment, without a bump. Changes by an admin who is not the author are recorded in the moderation
 * log.
 * @throws FanfareError FORBIDDEN, NOT_FOUND, BAD_USER_INPUT
 */
export async function updateInteraction(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
  text: string,
): Promise<Interaction> {
  const { identity } = session;
  const words = validate(commentSchema, text, ['text']);
  const found = await requireShown(core, session, id);
  const { interaction } = found;
  const isOwn = interaction.actorId === identity.userId;
  if (!isOwn && !isAdmin(identity))
    throw new FanfareError('FORBIDDEN', 'Only its actor or an admin can change an interaction');
  if (interaction.kind !== 'COMMENT') throw badInput('Only a COMMENT can have a text', ['id']);
  const now = clock.now();
  const isToHold = await isEditHeld(core, identity.userId, found, words);
  if (isToHold) await hold(core, interaction, now);
  const changed = await core.interactions.edit(
    interaction,
    words,
    now,
    isOwn ? null : { kind: 'EDIT_INTERACTION', by: identity.userId, at: now, reason: null },
  );
  if (changed === null) return unchanged(core, found);
  const edited = await conclude(core, changed, { kind: 'none' });
  // A moderator may have decided meanwhile about what was there before.
  if (isToHold) await hold(core, interaction, now);
  return edited;
}

/** Hides it before it is changed: whatever interrupts the call, nothing is hidden that is not in the queue. */
async function hold(core: Core, { id, actionId, actorId }: Interaction, editedAt: Date): Promise<void> {
  const target = { kind: 'interaction', interactionId: id, actionId, actorId } as const;
  const held = await core.reports.hold(target, editedAt, interactionVersion({ editedAt }));
  await carryOutOnInteraction(core, id, held, heldByHost(actorId));
}

/** Whether the host holds the comment with this text. @throws FanfareError FORBIDDEN if the host refuses it, UNAVAILABLE */
async function isEditHeld(
  { hooks: { beforeInteract } }: Core,
  by: UserId,
  { interaction, action }: ShownInteraction,
  text: string,
): Promise<boolean> {
  const { id, actorId, kind, reaction, data } = interaction;
  if (beforeInteract === null || interaction.text === text) return false;
  return isHeld(beforeInteract, actorId, {
    ...{ interactionId: encodeInteractionId(id), by, actorId, actionId: encodeActionId(action.id) },
    ...{ actionActorId: action.actorId, kind, text, reaction, mentions: [], data },
  });
}

async function requireShown(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
): Promise<ShownInteraction> {
  const found = await findShown(core, session, id);
  if (found === null) throw noSuchInteraction();
  return found;
}

async function conclude(
  core: ChangeCore,
  { interaction, settling }: { readonly interaction: Interaction; readonly settling: SettlingToken },
  change: EngagementChange,
): Promise<Interaction> {
  await core.interactions.logModeration(interaction);
  await settleInteraction(core, interaction, change, settling);
  return interaction;
}

/** Nothing to change. The call may be the retry of an interrupted one, so later steps still run. */
async function unchanged(core: Core, { interaction, settling }: KnownInteraction): Promise<Interaction> {
  if (settling !== null) {
    await core.interactions.logModeration(interaction);
    await settleUnknown(core, interaction, settling);
    return interaction;
  }
  const now = (await core.interactions.find(interaction.id))?.interaction;
  // May have been removed by another call in the meantime.
  if (now === undefined || now.state === 'REMOVED') throw noSuchInteraction();
  return now;
}
