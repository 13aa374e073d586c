import type { Core } from '../core.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import { isShown, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { SettlingToken } from './store/interaction-records.ts';
import { getAction } from '../../feed/page/read-actions.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';

/** An interaction with its action, if the session may see the action. */
export interface FoundInteraction {
  readonly interaction: Interaction;
  readonly settling: SettlingToken | null;
  readonly action: Action | null;
}

export interface ShownInteraction extends FoundInteraction {
  readonly action: Action;
}

/** An id that no action has: ids start with their creation time. */
const NO_ACTION: ActionId = '0'.repeat(24);

export interface FindInteractionOptions {
  /** Whether the interaction exists for the caller; hidden and removed ones may not. */
  readonly isShown: (interaction: Interaction) => boolean;
  /** The session whose rights decide about the action. */
  readonly sessionOf: (interaction: Interaction | null) => ReaderSession;
}

/** Two round trips; three when visibility depends on follows or nothing is found: the cost does not reveal which. */
export async function findInteraction(
  { interactions }: Core,
  id: InteractionId,
  { isShown, sessionOf }: FindInteractionOptions,
): Promise<FoundInteraction | null> {
  const stored = await interactions.find(id);
  const found = stored !== null && isShown(stored.interaction) ? stored : null;
  const action = await getAction(
    sessionOf(found?.interaction ?? null),
    found?.interaction.actionId ?? NO_ACTION,
  );
  return found === null ? null : { ...found, action };
}

/** `null` when it does not exist or is not visible; the caller cannot tell which. */
export async function getInteraction(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
): Promise<Interaction | null> {
  const found = await findShown(core, session, id);
  return found?.interaction ?? null;
}

/** Finds an interaction that the viewer may see, on an action that they may see. */
export async function findShown(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
): Promise<ShownInteraction | null> {
  const found = await findInteraction(core, id, {
    isShown: (interaction) => isShown(interaction, isAdmin(session.identity)),
    sessionOf: () => session,
  });
  return found?.action == null ? null : { ...found, action: found.action };
}

export function isAdmin({ roles }: Identity): boolean {
  return roles.has('admin');
}
