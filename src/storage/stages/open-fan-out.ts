import type { Filter } from 'mongodb';
import type { ActionDocument } from '../documents/documents.ts';

/** Fan-outs that are not DONE; `$exists` states the condition of the partial index. */
export const OPEN_FAN_OUT: Filter<ActionDocument> = {
  'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS', 'FAILED'] },
  'fanOut.leaseUntil': { $exists: true },
};
