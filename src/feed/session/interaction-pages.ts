import type { ActionId } from '../../domain/action.ts';
import type { Interaction } from '../../domain/interaction.ts';
import type { InteractionQuery } from '../../features/interactions/store/interaction-lists.ts';
import type { InteractionsRepository } from '../../features/interactions/store/interactions.ts';

/** The first interactions of an action that match a query, newest first. */
export interface InteractionPage {
  readonly name: string;
  readonly interactions: readonly Interaction[];
}

/** Length of the action id in a name. */
const ID_LENGTH = 24;

/** Key for loaders, made of the action and the query. */
export function interactionPageName(actionId: ActionId, query: InteractionQuery): string {
  return actionId + JSON.stringify(query);
}

/** One query for all actions with the same interaction query. */
export async function findInteractionPages(
  interactions: InteractionsRepository,
  names: readonly string[],
): Promise<InteractionPage[]> {
  const byQuery = new Map<string, ActionId[]>();
  for (const name of names) {
    const query = name.slice(ID_LENGTH);
    byQuery.set(query, [...(byQuery.get(query) ?? []), name.slice(0, ID_LENGTH)]);
  }
  const pages = await Promise.all(
    Array.from(byQuery, async ([query, actionIds]) => {
      const found = await interactions.newestOf(actionIds, readQuery(query));
      return Array.from(found, ([actionId, list]) => ({ name: actionId + query, interactions: list }));
    }),
  );
  return pages.flat();
}

function readQuery(text: string): InteractionQuery {
  const query = JSON.parse(text) as Omit<InteractionQuery, 'after'> & {
    readonly after: { readonly at: string; readonly id: string } | null;
  };
  const { after } = query;
  return { ...query, after: after === null ? null : { ...after, at: new Date(after.at) } };
}
