import type { Filter } from 'mongodb';
import type { InteractionDocument } from '../documents/documents.ts';
import type { Collections } from '../database/mongo.ts';
import { putIntoOutbox } from './event-outbox.ts';
import { eventsOfInteraction } from './unsent-events.ts';

const BATCH = 500;

/**
 * Moves the events of a batch of interactions to the outbox, then deletes these interactions. Returns their number. Safe to
 * interrupt and repeat: no event is lost or duplicated.
 */
export async function rescueEvents(
  { interactions, eventOutbox }: Collections,
  filter: Filter<InteractionDocument>,
): Promise<number> {
  const found = await interactions
    .find({ ...filter, unsentAt: { $exists: true } })
    .limit(BATCH)
    .batchSize(BATCH)
    .toArray();
  if (found.length === 0) return 0;
  await putIntoOutbox(eventOutbox, found.flatMap(eventsOfInteraction));
  await interactions.bulkWrite(
    found.map(({ _id, unsent }) => ({
      // An interaction with a new event is left for the next batch.
      deleteOne: { filter: { _id, unsent: unsent ?? [] } },
    })),
    { ordered: false },
  );
  return found.length;
}
