import type { Document } from 'mongodb';
import { literal } from './revision.ts';

/**
 * Update pipeline fields that set a name. A different name increments the version and becomes due for renaming in the same
 * write; a worker that is copying the previous name keeps its lease and notices the new version.
 *
 * @param field name of the document's field.
 */
export function renamed(field: 'name' | 'label', name: string, now: Date): Document {
  const value = literal(name);
  const version = { $ifNull: ['$version', 0] };
  const isSame = { $eq: [`$${field}`, value] };
  const isWorkedOn = { $gt: ['$rename.owner', null] };
  const rename = { due: { $cond: [isWorkedOn, '$rename.due', now] }, attempts: 0 };
  return {
    [field]: value,
    version: { $cond: [isSame, version, { $add: [version, 1] }] },
    rename: { $cond: [isSame, '$rename', { $mergeObjects: ['$rename', rename] }] },
  };
}
