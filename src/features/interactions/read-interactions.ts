import type { Core } from '../../core/core.ts';
import type { ActionId, UserId, Action } from '../../domain/action.ts';
import { withoutBlocked } from '../../feed/loads/own-blocks.ts';
import { learnOfActions } from '../../feed/page/hydration.ts';
import { decodeId, decodePosition, encodeId, encodePosition } from '../../domain/cursor.ts';
import { isShown, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import { INTERACTION_KINDS } from '../../domain/relevancy.ts';
import { idBeside } from '../../domain/stored-id.ts';
import type { InteractionPosition, InteractionQuery } from './store/interaction-lists.ts';
import { askedPage, collectPage, type PageSizes } from '../../feed/page/paging.ts';
import type { InteractionsRepository } from './store/interactions.ts';
import { load, readerActionLoad, ACTION } from '../../feed/session/load.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { requireOneOf } from '../../core/validate.ts';
import type { InteractionListArgs, Page, PageArgs } from '../../core/shapes.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { passedOnBy } from '../../domain/visibility.ts';
import { loadFollows } from '../../feed/loads/own-follows.ts';
import { MODERATORS, moderates, type Identity } from '../../domain/viewer.ts';
import type { SettlingToken } from './store/interaction-records.ts';
import { getAction } from '../../feed/page/read-actions.ts';

/** An interaction with its action, if the session may see the action. */
interface FoundInteraction {
  readonly interaction: Interaction;
  readonly settling: SettlingToken | null;
  readonly action: Action | null;
}

export interface ShownInteraction extends FoundInteraction {
  readonly action: Action;
}

/** An id that no action has: ids start with their creation time. */
const NO_ACTION: ActionId = '0'.repeat(24);

interface FindInteractionOptions {
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

/**
 * `null` when it does not exist or is not visible; the caller cannot tell which. Those of one turn of the event loop are read
 * together, and equal ids once; as many round trips as `findInteraction`.
 */
export async function getInteraction(session: ReaderSession, id: InteractionId): Promise<Interaction | null> {
  const interaction = await session.load(INTERACTION, id);
  const found =
    interaction !== null && isShown(interaction, moderates(session.identity)) ? interaction : null;
  const action = await getAction(session, found?.actionId ?? NO_ACTION);
  if (found === null || action === null) return null;
  const [shown] = await withoutBlocked(session, [found], ({ actorId }) => actorId);
  return shown ?? null;
}

/** Finds an interaction that the viewer may see, on an action that they may see. */
export async function findShown(
  core: Core,
  session: ReaderSession,
  id: InteractionId,
): Promise<ShownInteraction | null> {
  const found = await findInteraction(core, id, {
    isShown: (interaction) => isShown(interaction, moderates(session.identity)),
    sessionOf: () => session,
  });
  if (found?.action == null) return null;
  const [shown] = await withoutBlocked(
    session,
    [{ ...found, action: found.action }],
    ({ interaction }) => interaction.actorId,
  );
  return shown ?? null;
}

export function isAdmin({ roles }: Identity): boolean {
  return roles.has('admin');
}

/**
 * Interactions of an action the viewer may see, newest first: visible ones, and for admins also hidden ones. One round trip
 * for all actions requested in the same turn of the event loop.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function listInteractions(
  session: ReaderSession,
  actionId: ActionId,
  { kinds, parentId, sizes, ...args }: InteractionListArgs & { readonly sizes?: PageSizes },
): Promise<Page<Interaction>> {
  const asked =
    kinds == null ? [...INTERACTION_KINDS] : INTERACTION_KINDS.filter((kind) => kinds.includes(kind));
  const list = `interactions:${actionId}:${asked.join()}:${parentId === null ? 'none' : (parentId ?? '')}`;
  const query = {
    kinds: asked,
    ...(parentId === undefined ? {} : { parentId }),
    withHidden: moderates(session.identity),
  };
  return collectPage<InteractionPosition, Interaction, Interaction>({
    page: askedPage(
      args,
      (cursor) => {
        const { time, actionId: id } = decodePosition(list, cursor);
        return { at: time, id };
      },
      sizes,
    ),
    async scan(stretch) {
      const name = interactionPageName(actionId, { ...query, ...stretch });
      return (await session.load(INTERACTION_PAGE, name))?.interactions ?? [];
    },
    select: (found) => withoutBlocked(session, found, ({ actorId }) => actorId),
    cursorOf: (node) => encodePosition(list, { time: node.at, actionId: node.id }),
  });
}

/** Interactions with a text, most recently recorded first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function latestInteractions(
  { interactions }: Core,
  session: ReaderSession,
  args: PageArgs,
): Promise<Page<Interaction>> {
  requireOneOf(session.identity, MODERATORS);
  const { userId } = session.identity;
  const list = idBeside(userId, 'latestInteractions');
  return collectPage<{ readonly id: InteractionId }, Interaction, Interaction>({
    page: askedPage(args, (cursor) => ({ id: decodeId(list, cursor) })),
    scan: (stretch) => interactions.latestTexts(userId, stretch),
    select: (candidates) => ofActionsThatAre(session, candidates),
    cursorOf: ({ id }) => encodeId(list, id),
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

/** The reader's visible interactions with an action; `null`: none. */
export const OWN_INTERACTIONS = readerActionLoad(({ interactions }, pairs) => interactions.own(pairs));

/** An interaction in any state. */
export const INTERACTION = load({
  batch: ({ interactions }, ids) => interactions.findByIds(ids),
  key: ({ id }) => id,
});

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
  const query = JSON.parse(text) as Omit<InteractionQuery, 'from'> & {
    readonly from: { readonly at: string; readonly id: string } | null;
  };
  const { from } = query;
  return { ...query, from: from && { ...from, at: new Date(from.at) } };
}

/** Resharers, newest first. One round trip for all items of a turn of the event loop; none for items without reshares. */
export async function resharedBy(session: ReaderSession, { action }: NewsfeedItem): Promise<UserId[]> {
  if (action.reshares.length === 0) return [];
  const [profile, follows] = await Promise.all([
    session.profile(),
    loadFollows(
      session,
      action.reshares.map(({ by }) => by),
    ),
  ]);
  await learnOfActions(session, profile, [action], follows);
  return passedOnBy(profile, action, follows).flatMap(({ via }) => via ?? []);
}
