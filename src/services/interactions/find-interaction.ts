import type { Action, ActionId } from '../../domain/action.ts';
import { isShown, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { SettlingToken } from '../../storage/interaction-records.ts';
import type { InteractionsRepository } from '../../storage/interactions.ts';
import { getAction } from '../feed/read-actions.ts';
import type { ReaderSession } from '../session/reader-session.ts';

export interface FindInteractionDependencies {
  readonly interactions: Pick<InteractionsRepository, 'find'>;
}

/** An interaction, and its action if the session may see it. */
export interface FoundInteraction {
  readonly interaction: Interaction;
  readonly settling: SettlingToken | null;
  readonly action: Action | null;
}

/** Not an id that an action can have: ids begin with the time they were made at. */
const NO_ACTION: ActionId = '0'.repeat(24);

/**
 * Looks an interaction up by its id. Two round trips, three where entitlement hangs on follows or there is no such
 * interaction: what is not there takes the work of what may not be seen.
 * @param sessionOf with whose rights the action is read.
 */
export async function findInteraction(
  { interactions }: FindInteractionDependencies,
  id: InteractionId,
  sessionOf: (interaction: Interaction | null) => ReaderSession,
): Promise<FoundInteraction | null> {
  const found = await interactions.find(id);
  const action = await getAction(
    sessionOf(found?.interaction ?? null),
    found?.interaction.actionId ?? NO_ACTION,
  );
  return found === null ? null : { ...found, action };
}

/** Null when there is none or the viewer may not see it; the two cannot be told apart. */
export async function getInteraction(
  dependencies: FindInteractionDependencies,
  session: ReaderSession,
  id: InteractionId,
): Promise<Interaction | null> {
  const found = await findInteraction(dependencies, id, () => session);
  if (found?.action == null || !isShown(found.interaction, isAdmin(session.identity))) return null;
  return found.interaction;
}

export function isAdmin({ roles }: Identity): boolean {
  return roles.has('admin');
}
