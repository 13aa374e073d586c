import type { Filter } from 'mongodb';
import type { RefId, UserId } from '../domain/action.ts';
import type { ActionDocument } from './documents.ts';

/** Conditions on actions themselves; those that are given must all hold. */
export interface ActionConditions {
  readonly types?: readonly string[];
  readonly actorIds?: readonly UserId[];
  readonly refId?: RefId;
  readonly tag?: string;
}

export function conditionsFilter(conditions: ActionConditions): Filter<ActionDocument> {
  const filter: Filter<ActionDocument> = {};
  if (conditions.types !== undefined) filter['descriptor.type'] = { $in: [...conditions.types] };
  if (conditions.actorIds !== undefined) filter.actorId = { $in: [...conditions.actorIds] };
  if (conditions.refId !== undefined) filter.refIds = conditions.refId;
  if (conditions.tag !== undefined) filter['descriptor.tags'] = conditions.tag;
  return filter;
}
