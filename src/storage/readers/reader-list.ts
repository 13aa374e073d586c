import { ObjectId, type Document } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';

/** A place in a list of a reader: an action, and when it came into the list. */
export interface ReaderListEntry {
  readonly actionId: ActionId;
  readonly at: Date;
}

export const NEWEST_FIRST = { at: -1, '_id.actionId': -1 } as const;

/** Conditions for what lies behind a place in this order; null: for all of the list. */
export function behind(place: ReaderListEntry | null): Document {
  if (place === null) return {};
  const { at, actionId } = place;
  // The range beside the tie-break is what lets the index be entered at the cursor.
  return {
    at: { $lte: at },
    $or: [{ at: { $lt: at } }, { '_id.actionId': { $lt: new ObjectId(actionId) } }],
  };
}
