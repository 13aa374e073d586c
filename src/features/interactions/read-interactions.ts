import type { Core } from '../core.ts';
import type { ActionId } from '../../domain/action.ts';
import { decodeCursor, decodePosition, encodeCursor, encodePosition } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import { isShown, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import { INTERACTION_KINDS } from '../../domain/relevancy.ts';
import { idBeside, tenantOf } from '../../domain/tenant.ts';
import type { InteractionQuery } from './store/interaction-lists.ts';
import { collectPage, pageSize } from '../../feed/page/paging.ts';
import type { InteractionsRepository } from './store/interactions.ts';
import { load, readerActionLoad } from '../../feed/session/load.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { requireRole } from '../validate.ts';
import type { InteractionListArgs, Page, PageArgs } from '../shapes.ts';
import { clock } from '../../lib/clock.ts';
import { isAdmin } from './find-interaction.ts';
import { ACTION } from '../../feed/session/action-load.ts';

/**
 * Interactions of an action the viewer may see, newest first: visible ones, and for admins also hidden ones. One round trip
 * for all actions requested in the same turn of the event loop.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function listInteractions(
  session: ReaderSession,
  actionId: ActionId,
  { kinds, parentId, first, after }: InteractionListArgs,
): Promise<Page<Interaction>> {
  const size = pageSize(first);
  const asked =
    kinds == null ? [...INTERACTION_KINDS] : INTERACTION_KINDS.filter((kind) => kinds.includes(kind));
  const list = `interactions:${actionId}:${asked.join()}:${parentId === null ? 'none' : (parentId ?? '')}`;
  const cursor = after == null ? null : decodePosition(list, after);
  const asOf = cursor?.asOf ?? clock.now();
  const query: InteractionQuery = {
    kinds: asked,
    ...(parentId === undefined ? {} : { parentId }),
    after: cursor === null ? null : { at: cursor.time, id: cursor.actionId },
    limit: size + 1,
    withHidden: isAdmin(session.identity),
  };
  const page = await session.load(INTERACTION_PAGE, interactionPageName(actionId, query));
  const found = page?.interactions ?? [];
  const edges = found.slice(0, size).map((node) => ({
    node,
    cursor: encodePosition(list, { time: node.at, actionId: node.id, asOf }),
  }));
  return { edges, hasNextPage: found.length > size, endCursor: edges.at(-1)?.cursor ?? null };
}

/** Interactions with a text, most recently recorded first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function latestInteractions(
  { interactions }: Core,
  session: ReaderSession,
  { first, after }: PageArgs,
): Promise<Page<Interaction>> {
  requireRole(session.identity, 'admin');
  const { userId } = session.identity;
  const list = idBeside(userId, 'latestInteractions');
  return collectPage<{ readonly id: InteractionId }, Interaction, Interaction>({
    size: pageSize(first),
    after: after == null ? null : { id: decodeId(list, after) },
    scan: (position, limit) => interactions.latestTexts(tenantOf(userId), position?.id ?? null, limit),
    select: (candidates) => ofActionsThatAre(session, candidates),
    cursorOf: ({ id }) => encodeCursor(list, Buffer.from(id, 'hex')),
  });
}

/** Leaves out those of deleted actions, which will soon be removed. */
async function ofActionsThatAre(
  session: ReaderSession,
  candidates: readonly Interaction[],
): Promise<Interaction[]> {
  const actions = await session.loadMany(
    ACTION,
    candidates.map(({ actionId }) => actionId),
  );
  return candidates.filter((candidate, index) => {
    const action = actions[index];
    return action != null && !action.isDeleted && isShown(candidate, true);
  });
}

function decodeId(list: string, cursor: string): InteractionId {
  const id = decodeCursor(list, cursor);
  if (id.length !== 12) throw new FanfareError('BAD_CURSOR', 'The cursor does not belong to this list');
  return id.toString('hex');
}

/** The reader's visible interactions with an action; `null`: none. */
export const OWN_INTERACTIONS = readerActionLoad(({ interactions }, pairs) => interactions.own(pairs));

/** The first interactions of an action that match a query, newest first. */
const INTERACTION_PAGE = load({
  batch: ({ interactions }, names) => findInteractionPages(interactions, names),
  key: ({ name }) => name,
});

/** The first interactions of an action that match a query, newest first. */
interface InteractionPage {
  readonly name: string;
  readonly interactions: readonly Interaction[];
}

/** Length of the action id in a name. */
const ID_LENGTH = 24;

/** The id of a page, made of the action and the query. */
function interactionPageName(actionId: ActionId, query: InteractionQuery): string {
  return actionId + JSON.stringify(query);
}

/** One query for all actions with the same interaction query. */
async function findInteractionPages(
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
