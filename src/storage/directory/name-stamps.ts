import type { Document } from 'mongodb';
import type { ActionTexts, RefId } from '../../domain/action.ts';
import { namedIdsOf } from '../../descriptors/names.ts';
import { STAMP_SEPARATOR } from '../documents/ids.ts';
import { literal } from '../stages/literal.ts';

/**
 * An action lists the names it copies in one flat array, as `id`, tab, version. Ids contain no tab, so the stamps of one id
 * form a range, oldest first, and a single index finds copies older than a version without reading the others.
 */
const AFTER_SEPARATOR = '\n';
const VERSION_DIGITS = 10;

/** Version of a published copy: lower than any version written by a rename. */
export const UNCARRIED = 0;

export function nameStamp(id: RefId, version: number): string {
  return `${id}${STAMP_SEPARATOR}${String(version).padStart(VERSION_DIGITS, '0')}`;
}

/** Ids whose names an action copies: its refs, and those named in its descriptor. */
export function namesShown(action: ActionTexts): RefId[] {
  return [...new Set([...action.refs.map((ref) => ref.id), ...namedIdsOf(action.descriptor)])];
}

/** The id in a stamp. */
export function idOfStamp(stamp: string): RefId {
  return stamp.slice(0, stamp.lastIndexOf(STAMP_SEPARATOR));
}

/** The same names, whatever version the copies have. */
export function uncarried(stamps: readonly string[]): string[] {
  return stamps.map((stamp) => nameStamp(idOfStamp(stamp), UNCARRIED));
}

/** Filter for actions that copy the name in any version. Index `names`. */
export function holdsName(id: RefId): Document {
  return { names: { $elemMatch: { $gte: `${id}${STAMP_SEPARATOR}`, $lt: `${id}${AFTER_SEPARATOR}` } } };
}

/** Filter for actions that copy the name in an older version. Index `names`. */
export function holdsOlderName(id: RefId, version: number): Document {
  return { names: { $elemMatch: { $gte: `${id}${STAMP_SEPARATOR}`, $lt: nameStamp(id, version) } } };
}

/** Expression for an action's stamps after updating a name to this version. */
export function restamped(id: RefId, version: number): Document {
  const stamp = literal(nameStamp(id, version));
  const isOlder = {
    $and: [{ $gte: ['$$stamp', literal(`${id}${STAMP_SEPARATOR}`)] }, { $lt: ['$$stamp', stamp] }],
  };
  return { $map: { input: '$names', as: 'stamp', in: { $cond: [isOlder, stamp, '$$stamp'] } } };
}
