import type { Filter } from 'mongodb';
import type { InteractionDocument } from '../documents/documents.ts';
import type { Collections } from '../database/mongo.ts';
import { putIntoOutbox } from './event-outbox.ts';
import { eventsOfInteraction } from './unsent-events.ts';

const BATCH = 500;

/**
 * Brings the events of interactions that are about to go into the outbox, a batch of them, and those interactions go.
 * Returns how many there were. Cut off anywhere and repeated, no event is lost and none is there twice.
 */
export async function rescueEvents(
  { interactions, eventOutbox }: Pick<Collections, 'interactions' | 'eventOutbox'>,
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
      // What has got another event meanwhile is left for the next batch.
      deleteOne: { filter: { _id, unsent: unsent ?? [] } },
    })),
    { ordered: false },
  );
  return found.length;
}
