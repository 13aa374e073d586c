import { ObjectId, type Document, type Filter } from 'mongodb';
import type { ActionId } from '../domain/action.ts';
import type { Collections, Declaration, Ids, OfAction } from './documents/declaration.ts';
import { fieldOf } from './documents/ids.ts';
import { NO_EVENTS, type EventEntries } from './stages/event-entries.ts';

declare module './repositories.ts' {
  interface Repositories {
    readonly belongings: ReturnType<typeof belongingsRepository>;
  }
}

/** A collection whose documents belong to actions, or are actions. */
export interface Belongings extends OfAction<Document> {
  readonly collection: keyof Collections;
  readonly ids: Ids;
}

export function belongingsIn(declarations: readonly Declaration[]): Belongings[] {
  return declarations.flatMap(({ name, ids, action }) =>
    'because' in action ? [] : [{ collection: name as keyof Collections, ids, ...action }],
  );
}

/** Filter for what belongs to actions. */
export function belongingTo({ id }: Belongings, actions: ObjectId | readonly ObjectId[]): Filter<Document> {
  return { [fieldOf(id)]: actions instanceof ObjectId ? actions : { $in: actions } };
}

export function belongingsRepository(
  collections: Collections,
  declarations: readonly Declaration[],
  { isOn }: EventEntries = NO_EVENTS,
) {
  const all = belongingsIn(declarations);
  return {
    /** Deletes what goes with an action that was deleted. */
    async purge(actionId: ActionId): Promise<void> {
      for (const belongings of all) {
        const { collection, purge } = belongings;
        const filter = belongingTo(belongings, new ObjectId(actionId));
        if (purge === 'delete') await collections.members.db.collection(collection).deleteMany(filter);
        else if (typeof purge === 'function') await purge(collections, filter, isOn);
      }
    },
  };
}
