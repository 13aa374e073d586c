import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type WriteError,
} from 'mongodb';
import { FanfareError } from '../domain/errors.ts';

const DUPLICATE_KEY = 11_000;
const MAX_TRIES = 5;

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/**
 * What keeps the feeds cannot be reached, or takes nothing for now: the fault of nobody here. Whoever writes tries again
 * later, as often as it takes; whoever reads makes the feed from the actions.
 */
export class StoreUnavailable extends FanfareError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause });
  }
}

/** The database cannot be reached: nobody's fault here, and worth trying again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof MongoServerSelectionError || error instanceof MongoNetworkError;
}

/**
 * Positions of an unordered bulk write that failed for a duplicate key.
 * @throws the error itself when it tells of any other failure.
 */
export function duplicatePositions(error: unknown): number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  // The driver types this as one or many.
  const writeErrors: readonly WriteError[] = [error.writeErrors].flat();
  if (writeErrors.length === 0 || writeErrors.some((writeError) => writeError.code !== DUPLICATE_KEY))
    throw error;
  return writeErrors.map((writeError) => writeError.index);
}

/**
 * Repeats an upsert that lost the race for a new key: two upserts of one key may both try to insert, and the database
 * refuses one of them. The repetition finds the document and updates it.
 */
export async function retryOnDuplicateKey<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!isDuplicateKey(error) || tries === MAX_TRIES) throw error;
    }
  }
}
