import { randomBytes } from 'node:crypto';
import type { Document, UpdateFilter } from 'mongodb';
import type { ActionDocument } from '../documents/documents.ts';

/** Bits of a 64-bit number that do not fit into a double. */
const SURPLUS_BITS = 11n;

/**
 * Identifies one version of an action's content: 53 random bits, so that two versions never share one, even if a database is
 * restored to an earlier state. A number, because a page decodes one per action.
 */
export function newRevision(): number {
  return Number(randomBytes(8).readBigUInt64LE() >> SURPLUS_BITS);
}

/** Invalidates cached copies of these actions. Every write of an action uses this or `unrevised`. */
export function revised(update: Document[], rev?: number): Document[];
export function revised(update: UpdateFilter<ActionDocument>): UpdateFilter<ActionDocument>;
export function revised(
  update: Document[] | UpdateFilter<ActionDocument>,
  rev = newRevision(),
): Document[] | UpdateFilter<ActionDocument> {
  if (Array.isArray(update)) return [...update, { $set: { rev } }];
  return { ...update, $set: { ...update.$set, rev } };
}

/** For updates of data that is never cached: fan-out state, and events and log entries waiting to be moved. */
export function unrevised<U extends Document[] | UpdateFilter<ActionDocument>>(update: U): U {
  return update;
}

/** A literal value in a pipeline: without this, a string that starts with "$" would be read as a path. */
export function literal(value: unknown): Document {
  return { $literal: value };
}
