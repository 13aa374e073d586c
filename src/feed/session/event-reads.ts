import type { Action, ActionId } from '../../domain/action.ts';
import { inSlices } from '../../lib/turn.ts';
import type { Stamps } from '../store/reader-stamps.ts';
import type { SessionRepositories } from './open-session.ts';

/** Data that is equal for all watchers, as of one time. */
export interface EventReads {
  readonly stamps: Stamps;
  /** One entry for every requested action. */
  readonly actions: ReadonlyMap<ActionId, Action | null>;
}

export type ReadForEvents = (actionIds: Iterable<ActionId>) => Promise<EventReads>;

const MAX_BATCH = 500;

/** Reads the data needed to decide events of these actions for any watcher. */
export function createEventReads(repositories: SessionRepositories): ReadForEvents {
  return async (actionIds) => {
    const actions = new Map<ActionId, Action | null>();
    for (const id of actionIds) actions.set(id, null);
    const ids = [...actions.keys()];
    if (ids.length === 0) return { stamps: await repositories.readerStamps.read(), actions };
    // One command for both, since each costs the database as much as what it finds. More actions than that are rare.
    const [first] = await Promise.all([
      repositories.actions.findWithStamps(ids.slice(0, MAX_BATCH)),
      inSlices(ids.slice(MAX_BATCH), MAX_BATCH, async (more) => {
        for (const action of await repositories.actions.findByIds(more)) actions.set(action.id, action);
      }),
    ]);
    for (const action of first.actions) actions.set(action.id, action);
    return { stamps: first.stamps, actions };
  };
}
