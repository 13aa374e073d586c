import type { Document } from 'mongodb';
import { peek, splitSequence } from './bson/peek.ts';
import { flagOf } from './bson/values.ts';
import { isConflict, mongoCode, sqlstateOf } from './engine-errors.ts';
import { backOff } from './engine.ts';
import { errorCode } from './errors.ts';

interface Batch {
  /** The operations as concatenated BSON. */
  readonly operations: Buffer;
  /** An ordered batch stops at its first error. */
  readonly isOrdered: boolean;
  /** Runs some of the operations and gives the result of just these. */
  readonly run: (operations: Buffer) => Promise<Document>;
}

/** So often a batch that met deadlocks is run again. */
const maxDeadlocks = 11;

/**
 * Runs again what a rival kept from running: of an unordered batch the operations that were hit, each of which was
 * rolled back on its own, of an ordered one everything from there on. Gives the result of all as if they had run at
 * once. Hit are those that met a deadlock and, each of them once, upserts that found their key taken meanwhile: now
 * there is something to update, as MongoDB sees it too.
 */
export async function resumeConflicts(result: Document, batch: Batch): Promise<Document> {
  const whole = { ...result };
  const operations = splitSequence(batch.operations);
  const upsertedAgain = new Set<number>();
  for (let deadlocks = 0; ;) {
    const errors = listOf(whole, 'writeErrors');
    const lost = errors
      .filter((error) => isLostUpsert(error, operations[place(error)]))
      .filter((error) => !upsertedAgain.has(place(error)));
    const deadlocked = deadlocks < maxDeadlocks ? errors.filter(isConflictError) : [];
    const hit = new Set([...lost, ...deadlocked].map(place));
    if (hit.size === 0) break;
    const first = Math.min(...hit);
    const left = batch.isOrdered ? [...operations.keys()].slice(first) : [...hit].sort((a, b) => a - b);
    for (const error of lost) upsertedAgain.add(place(error));
    if (deadlocked.length > 0) await backOff(++deadlocks);
    const part = await batch.run(Buffer.concat(left.map((index) => operations[index] ?? Buffer.alloc(0))));
    whole['writeErrors'] = errors.filter((error) => !hit.has(place(error)));
    addPart(whole, part, left);
  }
  if (listOf(whole, 'writeErrors').length === 0) delete whole['writeErrors'];
  return whole;
}

/** Adds the result of some operations to that of all. @param indexes their places among all. */
export function addPart(whole: Document, part: Document, indexes: readonly number[]): void {
  for (const name of ['n', 'nModified']) {
    if (part[name] !== undefined) whole[name] = Number(whole[name] ?? 0) + Number(part[name]);
  }
  for (const name of ['upserted', 'writeErrors']) {
    const moved = listOf(part, name).map((entry) => ({ ...entry, index: indexes[place(entry)] }));
    if (moved.length > 0)
      whole[name] = [...listOf(whole, name), ...moved].sort((a, b) => place(a) - place(b));
  }
}

function isConflictError(error: Document): boolean {
  const state = sqlstateOf(Number(error['code']));
  return state !== undefined && isConflict(state);
}

function isLostUpsert(error: Document, operation: Buffer | undefined): boolean {
  const state = sqlstateOf(Number(error['code']));
  if (state === undefined || operation === undefined) return false;
  return mongoCode(state, '') === errorCode.DuplicateKey && flagOf(peek(operation), 'upsert');
}

function listOf(document: Document, name: string): Document[] {
  return (document[name] ?? []) as Document[];
}

function place(entry: Document): number {
  return Number(entry['index']);
}
