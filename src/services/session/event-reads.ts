import type { ActionId } from '../../domain/action.ts';
import { inSlices } from '../../lib/in-slices.ts';
import type { Stamps } from '../../storage/readers/reader-stamps.ts';
import type { SessionRepositories } from './open-session.ts';
import type { Sighting } from './reader-session.ts';

/** Data that is equal for all watchers, as of one time. */
export interface EventReads {
  readonly stamps: Stamps;
  /** One entry for every requested action. */
  readonly sightings: ReadonlyMap<ActionId, Sighting | null>;
}

export type ReadForEvents = (actionIds: Iterable<ActionId>) => Promise<EventReads>;

const MAX_BATCH = 500;

/** Reads the data needed to decide events of these actions for any watcher. */
export function createEventReads({
  actions,
  readerStamps,
}: Pick<SessionRepositories, 'actions' | 'readerStamps'>): ReadForEvents {
  return async (actionIds) => {
    const sightings = new Map<ActionId, Sighting | null>();
    for (const id of actionIds) sightings.set(id, null);
    const [stamps] = await Promise.all([
      readerStamps.read(),
      inSlices([...sightings.keys()], MAX_BATCH, async (ids) => {
        for (const action of await actions.findByIds(ids)) sightings.set(action.id, { action });
      }),
    ]);
    return { stamps, sightings };
  };
}
