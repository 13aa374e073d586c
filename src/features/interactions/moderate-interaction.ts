import type { Core } from '../core.ts';
import type { UserId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { encodeActionId, encodeInteractionId } from '../../domain/node-ids.ts';
import { MODERATORS } from '../../domain/viewer.ts';
import type { Interaction, InteractionId } from '../../domain/interaction.ts';
import type { EngagementChange } from '../../storage/stages/interaction-stages.ts';
import type { KnownInteraction, SettlingToken } from './store/interaction-records.ts';
import { heldByHost, reasonSchema } from '../moderation/moderate-action.ts';
import { isHeld } from '../publish/ask-host.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { requireOneOf, validate } from '../validate.ts';
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
  const by = identity.userId;
  const changed = await changeHidden(core, found, { kind, reason: why, by });
  // Afterwards, so that it stays in the queue until it is shown.
  if (kind === 'UNHIDE_INTERACTION') await core.reports.release({ kind: 'interaction', id }, by, clock.now());
  return changed;
}

/** The same without a session, for what reports decide. Nothing happens to what was removed. */
export async function setInteractionHidden(
  core: Core,
  id: InteractionId,
  change: HiddenChange,
): Promise<void> {
  const found = await core.interactions.find(id);
  if (found === null || found.interaction.state === 'REMOVED') return;
  const [action] = await core.actions.findByIds([found.interaction.actionId]);
  if (action !== undefined) await changeHidden(core, { ...found, action }, change);
}

interface HiddenChange {
  readonly kind: 'HIDE_INTERACTION' | 'UNHIDE_INTERACTION';
  readonly reason: string | null;
  readonly by: UserId;
}

async function changeHidden(
  core: Core,
  found: ShownInteraction,
  { kind, reason, by }: HiddenChange,
): Promise<Interaction> {
  const changed = await core.interactions.setHidden(found.interaction, { kind, reason, by, at: clock.now() });
  if (changed === null) return unchanged(core, found);
  const { at, reaction, kind: of } = changed.interaction;
  const change: EngagementChange =
    kind === 'HIDE_INTERACTION'
      ? await takenFrom(core, found.action, changed.interaction, 1)
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
  if (await isEditHeld(core, identity.userId, found, words)) {
    const { actionId, actorId } = interaction;
    await core.reports.hold({ kind: 'interaction', interactionId: id, actionId, actorId }, now, true);
    await setInteractionHidden(core, id, { kind: 'HIDE_INTERACTION', ...heldByHost(actorId) });
  }
  const changed = await core.interactions.edit(
    interaction,
    words,
    now,
    isOwn ? null : { kind: 'EDIT_INTERACTION', by: identity.userId, at: now, reason: null },
  );
  if (changed === null) return unchanged(core, found);
  return conclude(core, changed, { kind: 'none' });
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
  core: Core,
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
