import { ObjectId, type Document } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';

/** A position in a reader's list: an action, and when it was added. */
export interface ReaderListEntry {
  readonly actionId: ActionId;
  readonly at: Date;
}

export const NEWEST_FIRST = { at: -1, '_id.actionId': -1 } as const;

/** Conditions for entries after a position in this order; `null`: the whole list. */
export function behind(place: ReaderListEntry | null): Document {
  if (place === null) return {};
  const { at, actionId } = place;
  // The range is redundant with the tie-break condition, but lets the index be entered at the cursor.
  return {
    at: { $lte: at },
    $or: [{ at: { $lt: at } }, { '_id.actionId': { $lt: new ObjectId(actionId) } }],
  };
}
