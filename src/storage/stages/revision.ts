import { randomBytes } from 'node:crypto';
import type { Document, UpdateFilter } from 'mongodb';
import type { ActionDocument } from '../documents/documents.ts';

/** How many of 64 random bits are too many for a double. */
const SURPLUS_BITS = 11n;

/**
 * Names one state of an action: 53 random bits, so that no two states of an action have the same one, not even where a
 * database goes back to an earlier state. A number, because a page decodes one for each of its actions.
 */
export function newRevision(): number {
  return Number(randomBytes(8).readBigUInt64LE() >> SURPLUS_BITS);
}

/** Afterwards nobody may show what they hold of these actions. Every write goes through this or `unrevised`. */
export function revised(update: Document[]): Document[];
export function revised(update: UpdateFilter<ActionDocument>): UpdateFilter<ActionDocument>;
export function revised(
  update: Document[] | UpdateFilter<ActionDocument>,
): Document[] | UpdateFilter<ActionDocument> {
  const rev = newRevision();
  if (Array.isArray(update)) return [...update, { $set: { rev } }];
  return { ...update, $set: { ...update.$set, rev } };
}

/** An update of what no cache holds: the state of the fan-out, and events and log entries that wait to be moved. */
export function unrevised<U extends Document[] | UpdateFilter<ActionDocument>>(update: U): U {
  return update;
}
