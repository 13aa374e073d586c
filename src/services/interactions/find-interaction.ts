import type { Action, ActionId } from '../../domain/action.ts';
import { isShown, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { SettlingToken } from '../../storage/interactions/interaction-records.ts';
import { getAction } from '../feed/read-actions.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { InteractionDependencies } from '../service-parts.ts';

/** An interaction, and its action if the session may see it. */
export interface FoundInteraction {
  readonly interaction: Interaction;
  readonly settling: SettlingToken | null;
  readonly action: Action | null;
}

export interface ShownInteraction extends FoundInteraction {
  readonly action: Action;
}

/** Not an id that an action can have: ids begin with the time they were made at. */
const NO_ACTION: ActionId = '0'.repeat(24);

export interface FindInteractionOptions {
  /** Whether there is such an interaction for who asks; what is hidden or removed may be none. */
  readonly isShown: (interaction: Interaction) => boolean;
  /** With whose rights the action is read. */
  readonly sessionOf: (interaction: Interaction | null) => ReaderSession;
}

/** Two round trips; three where entitlement hangs on follows or there is none: the work does not tell these apart. */
export async function findInteraction(
  { interactions }: InteractionDependencies,
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

/** Null when there is none or the viewer may not see it; the two cannot be told apart. */
export async function getInteraction(
  dependencies: InteractionDependencies,
  session: ReaderSession,
  id: InteractionId,
): Promise<Interaction | null> {
  const found = await findShown(dependencies, session, id);
  return found?.interaction ?? null;
}

/** What the viewer may see, on an action they may see. */
export async function findShown(
  dependencies: InteractionDependencies,
  session: ReaderSession,
  id: InteractionId,
): Promise<ShownInteraction | null> {
  const found = await findInteraction(dependencies, id, {
    isShown: (interaction) => isShown(interaction, isAdmin(session.identity)),
    sessionOf: () => session,
  });
  return found?.action == null ? null : { ...found, action: found.action };
}

export function isAdmin({ roles }: Identity): boolean {
  return roles.has('admin');
}
