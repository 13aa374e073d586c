import type { Document } from 'mongodb';
import { literal } from './literal.ts';

/**
 * Fields of an update pipeline that set a name. Another name than before raises the version and makes it due to be
 * carried, in the same write; a worker that is carrying the name before keeps the lease and finds the version raised.
 *
 * @param field what the document calls its name.
 */
export function renamed(field: 'name' | 'label', name: string, now: Date): Document {
  const value = literal(name);
  const version = { $ifNull: ['$version', 0] };
  const isSame = { $eq: [`$${field}`, value] };
  const isWorkedOn = { $gt: ['$rename.worker', null] };
  const rename = { due: { $cond: [isWorkedOn, '$rename.due', now] }, attempts: 0 };
  return {
    [field]: value,
    version: { $cond: [isSame, version, { $add: [version, 1] }] },
    rename: { $cond: [isSame, '$rename', { $mergeObjects: ['$rename', rename] }] },
  };
}
