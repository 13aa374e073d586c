import type { Action, ActionId } from '../../domain/action.ts';
import { decodePosition, encodePosition } from '../../domain/cursor.ts';
import { List } from './list.ts';
import type { Stretch } from '../../storage/documents/keyset.ts';
import { askedPage } from './paging.ts';
import { entitledActions } from './entitled.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { CountedPage, PageArgs } from '../../core/shapes.ts';
import { ACTION } from '../session/load.ts';

/** An entry of a reader's list of actions, ordered by the time it was added. */
export interface ListedAction {
  readonly actionId: ActionId;
  readonly at: Date;
}

interface ShownAction extends ListedAction {
  readonly action: Action;
}

/**
 * A page of a reader's list of actions, newest first. Visibility is decided at read time. One round trip for the list and
 * one for the actions; one more when visibility depends on follows.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readListedActions(
  session: ReaderSession,
  {
    list,
    args,
    scan,
  }: {
    /** Identifies the list in its cursors. */
    readonly list: string;
    readonly args: PageArgs;
    readonly scan: (stretch: Stretch<ListedAction>) => Promise<readonly ListedAction[]>;
  },
): Promise<CountedPage<Action>> {
  const listed = new List<ListedAction, ListedAction, ShownAction>({
    scan,
    select: (candidates) => shown(session, candidates),
    idOf: ({ actionId }) => actionId,
    isAt: (candidate, { at }) => candidate.at.getTime() === at.getTime(),
  });
  const page = await listed.page({
    page: askedPage(args, (cursor) => {
      const { time, actionId } = decodePosition(list, cursor);
      return { actionId, at: time };
    }),
    cursorOf: ({ actionId, at }) => encodePosition(list, { time: at, actionId }),
  });
  return { ...page, edges: page.edges.map(({ cursor: at, node }) => ({ cursor: at, node: node.action })) };
}

async function shown(session: ReaderSession, candidates: readonly ListedAction[]): Promise<ShownAction[]> {
  const loaded = await session.loadMany(
    ACTION,
    candidates.map(({ actionId }) => actionId),
  );
  const actions = loaded.filter((action) => action !== null);
  const entitled = new Map((await entitledActions(session, actions)).map((action) => [action.id, action]));
  return candidates.flatMap((candidate) => {
    const action = entitled.get(candidate.actionId);
    return action === undefined ? [] : [{ ...candidate, action }];
  });
}
