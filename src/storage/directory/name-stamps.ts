import type { Document } from 'mongodb';
import type { Action, RefId } from '../../domain/action.ts';
import { namedIdsOf } from '../../descriptors/names.ts';
import { literal } from '../stages/literal.ts';

/**
 * An action says in one flat array whose names it holds copies of, and which version of each: `id`, a tab, the version.
 * Ids have no tab, so the stamps of one id are a range of their own, oldest first, and one index over one path finds
 * the copies that are older than a version without looking at the others.
 */
const SEPARATOR = '\t';
const AFTER_SEPARATOR = '\n';
const VERSION_DIGITS = 10;

/** The version of a copy as it was published: older than any a rename carries. */
export const UNCARRIED = 0;

export function nameStamp(id: RefId, version: number): string {
  return `${id}${SEPARATOR}${String(version).padStart(VERSION_DIGITS, '0')}`;
}

/** The ids whose names an action holds: those of its refs, and those its descriptor names. */
export function namesShown(action: Pick<Action, 'refs' | 'descriptor'>): RefId[] {
  return [...new Set([...action.refs.map((ref) => ref.id), ...namedIdsOf(action.descriptor)])];
}

/** Which id a stamp is of. */
export function idOfStamp(stamp: string): RefId {
  return stamp.slice(0, stamp.lastIndexOf(SEPARATOR));
}

/** A filter for actions that hold the name in any version. Index `names`. */
export function holdsName(id: RefId): Document {
  return { names: { $elemMatch: { $gte: `${id}${SEPARATOR}`, $lt: `${id}${AFTER_SEPARATOR}` } } };
}

/** A filter for actions that hold the name in a version older than this one. Index `names`. */
export function holdsOlderName(id: RefId, version: number): Document {
  return { names: { $elemMatch: { $gte: `${id}${SEPARATOR}`, $lt: nameStamp(id, version) } } };
}

/** An expression for the stamps of an action after it has been given this version of a name. */
export function restamped(id: RefId, version: number): Document {
  const stamp = literal(nameStamp(id, version));
  const isOlder = {
    $and: [{ $gte: ['$$stamp', literal(`${id}${SEPARATOR}`)] }, { $lt: ['$$stamp', stamp] }],
  };
  return { $map: { input: '$names', as: 'stamp', in: { $cond: [isOlder, stamp, '$$stamp'] } } };
}
