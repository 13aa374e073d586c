import type { Core } from '../../core/core.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import type { Interaction, InteractionId } from '../../domain/interaction.ts';
import { areBeside } from '../../domain/stored-id.ts';
import { reactionAmong } from '../../domain/text-forms.ts';
import type { Identity } from '../../domain/viewer.ts';
import { getAction, noSuchAction } from '../../feed/page/read-actions.ts';
import { announceInThreads } from '../../feed/announce.ts';
import { isBlockedFor } from '../../feed/loads/own-blocks.ts';
import { openSession } from '../../feed/session/open-session.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { actingAs } from '../../core/validate.ts';
import type { ChangedInteraction, OwnInteraction, RemoveInteractionInput } from '../../core/shapes.ts';
import { clock } from '../../lib/clock.ts';
import { findInteraction, isAdmin } from './read-interactions.ts';
import { noSuchInteraction, settleInteraction, settleUnknown, takenFrom } from './settle-interaction.ts';

/**
 * Takes back an interaction: one's own, as a service that of others, as an admin any. Updates counts, viewer state and
 * scores; boosts stay. Idempotent: a repeated call is a replay.
 * @throws FanfareError BAD_USER_INPUT, FORBIDDEN; NOT_FOUND when there is none, or when its actor (for admins: the admin)
 * may not
 *   see the action
 */
export async function removeInteraction(
  core: Core,
  session: ReaderSession,
  input: RemoveInteractionInput,
): Promise<ChangedInteraction> {
  if (input.own != null) return removeOwn(core, session, input.own);
  if (input.id == null) throw badInput('Exactly one of id and own is required', ['input']);
  return removeOne(core, session, input.id);
}

async function removeOne(core: Core, session: ReaderSession, id: InteractionId): Promise<ChangedInteraction> {
  const { identity } = session;
  const mayRemove = ({ actorId }: Interaction): boolean =>
    actorId === identity.userId || isAdmin(identity) || identity.roles.has('service');
  const found = await findInteraction(core, id, {
    isShown: (interaction) => mayRemove(interaction) || interaction.state === 'VISIBLE',
    sessionOf: (interaction) =>
      actsForOther(identity, interaction)
        ? openSession(core, actingAs(identity, interaction.actorId, 'remove'))
        : session,
  });
  if (found?.action == null) throw noSuchInteraction();
  const { interaction, action, settling } = found;
  if (!mayRemove(interaction)) {
    if (await isBlockedFor(session, interaction.actorId)) throw noSuchInteraction();
    throw new FanfareError('FORBIDDEN', 'Only its actor, a service or an admin can remove an interaction');
  }
  if (interaction.state === 'REMOVED') {
    const same = settling === null ? action : await settleUnknown(core, interaction, settling);
    return { interaction, action: same, isReplay: true };
  }
  const removed = await core.interactions.remove(interaction, clock.now());
  const change = await takenFrom(core, action, interaction, removed.visible);
  const gone = asRemoved(interaction);
  const changed = await settleInteraction(core, gone, change, removed.settling);
  return { interaction: gone, action: changed, isReplay: false };
}

async function removeOwn(
  core: Core,
  session: ReaderSession,
  { actionId, kind, reaction }: OwnInteraction,
): Promise<ChangedInteraction> {
  if (reaction != null && kind !== 'REACTION')
    throw badInput('Only a REACTION can have a reaction', ['input', 'own', 'reaction']);
  const action = await getAction(session, actionId);
  if (action === null) throw noSuchAction();
  // One that is no longer configured can be taken back, too.
  const meant = reaction == null ? null : (reactionAmong(core.reactions, reaction) ?? reaction);
  const of = { actionId, actorId: session.identity.userId, kind, reaction: meant };
  const newest = await core.interactions.newestOwn(of);
  if (newest === null) throw noSuchInteraction();
  const removed = await core.interactions.remove(of, clock.now());
  const { interaction, settling } = newest;
  if (interaction.state === 'REMOVED' && removed.visible === 0) {
    const same = settling === null ? action : await settleUnknown(core, interaction, settling);
    return { interaction, action: same, isReplay: true };
  }
  // If the newest one was not visible, the times of the others are not known here.
  const at = interaction.state === 'VISIBLE' ? interaction.at : clock.now();
  const isMixed = kind === 'REACTION' && meant === null;
  const isAlone = !isMixed && kind !== 'COMMENT';
  const all = isAlone ? null : await core.interactions.removedIn(of, removed.settling);
  const reactions = isMixed ? all?.reactions : undefined;
  const change = await takenFrom(core, action, { ...interaction, at }, removed.visible, reactions);
  // Before it is settled: if this is interrupted, each of them is looked after.
  const others = all?.ids.filter((id) => id !== interaction.id) ?? [];
  if (others.length > 0)
    await announceInThreads(
      core,
      others.map((id) => ({ id, actionId })),
      true,
    );
  const gone = asRemoved(interaction);
  const changed = await settleInteraction(core, gone, change, removed.settling);
  return { interaction: gone, action: changed, isReplay: false };
}

function actsForOther(identity: Identity, interaction: Interaction | null): interaction is Interaction {
  return (
    interaction !== null &&
    interaction.actorId !== identity.userId &&
    identity.roles.has('service') &&
    areBeside(interaction.actorId, identity.userId) &&
    !isAdmin(identity)
  );
}

function asRemoved(interaction: Interaction): Interaction {
  return { ...interaction, state: 'REMOVED', text: null, data: null };
}
