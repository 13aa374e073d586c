import { ObjectId, type Document, type Filter } from 'mongodb';
import type { ActionId } from '../domain/action.ts';
import { CORE_COLLECTIONS } from '../features/features.ts';
import type { Collections, Ids, OfAction } from './documents/declaration.ts';
import { fieldOf } from './documents/ids.ts';
import { NO_EVENTS, type EventEntries } from './stages/event-entries.ts';

/** A collection whose documents belong to actions, or are actions. */
export interface Belongings extends OfAction<Document> {
  readonly collection: keyof Collections;
  readonly ids: Ids;
}

export const BELONGINGS: readonly Belongings[] = CORE_COLLECTIONS.flatMap(({ name, ids, action }) =>
  'because' in action ? [] : [{ collection: name as keyof Collections, ids, ...action }],
);

/** Filter for what belongs to actions. */
export function belongingTo({ id }: Belongings, actions: ObjectId | readonly ObjectId[]): Filter<Document> {
  return { [fieldOf(id)]: actions instanceof ObjectId ? actions : { $in: actions } };
}

export function belongingsRepository(collections: Collections, { isOn }: EventEntries = NO_EVENTS) {
  return {
    /** Deletes what goes with an action that was deleted. */
    async purge(actionId: ActionId): Promise<void> {
      for (const belongings of BELONGINGS) {
        const { collection, purge } = belongings;
        const filter = belongingTo(belongings, new ObjectId(actionId));
        if (purge === 'delete') await collections.members.db.collection(collection).deleteMany(filter);
        else if (typeof purge === 'function') await purge(collections, filter, isOn);
      }
    },
  };
}
