import { ObjectId, type Filter } from 'mongodb';
import type { ActionId, FanOutState, RefId, UserId } from '../../domain/action.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { reportedAs } from '../stages/reported-fan-outs.ts';

/** Conditions on an action, all of which must hold. */
export interface ActionConditions {
  readonly types?: readonly string[];
  readonly actorIds?: readonly UserId[];
  readonly refId?: RefId;
  /** At least one of them. */
  readonly tags?: readonly string[];
  /** A descriptor field declared as indexed. */
  readonly descriptorField?: { readonly field: string; readonly value: string };
}

export function conditionsFilter(conditions: ActionConditions): Filter<ActionDocument> {
  const filter: Filter<ActionDocument> = {};
  if (conditions.types !== undefined) filter['descriptor.type'] = { $in: [...conditions.types] };
  if (conditions.actorIds !== undefined) filter.actorId = { $in: [...conditions.actorIds] };
  if (conditions.refId !== undefined) filter.refIds = conditions.refId;
  if (conditions.tags !== undefined) filter['descriptor.tags'] = { $in: [...conditions.tags] };
  if (conditions.descriptorField !== undefined) {
    const { field, value } = conditions.descriptorField;
    // States the partial index's condition explicitly, since not every planner infers it.
    Object.assign(filter, { [`descriptor.${field}`]: { $eq: value, $exists: true } });
  }
  return filter;
}

/** A page of the list of all actions, newest first by id. */
export interface ActionListQuery extends ActionConditions {
  /** `null`: tenants are off. */
  readonly tenant: Tenant | null;
  readonly state: FanOutState | null;
  readonly includeHidden: boolean;
  readonly afterId: ActionId | null;
  readonly limit: number;
  /** Range of `conducted`: `since` inclusive, `until` exclusive. */
  readonly since?: Date;
  readonly until?: Date;
}

/** Ids start with the time of recording, and `conducted` is at most slightly later: so `since` also bounds the ids. */
export function actionListFilter(query: ActionListQuery): Filter<ActionDocument> {
  const { tenant, state, includeHidden, afterId, since, until } = query;
  const id = {
    ...(afterId === null ? {} : { $lt: new ObjectId(afterId) }),
    ...(since === undefined ? {} : { $gte: oldestId(since) }),
  };
  const conducted = {
    ...(since === undefined ? {} : { $gte: since }),
    ...(until === undefined ? {} : { $lt: until }),
  };
  return {
    ...(tenant === null ? {} : { tenant }),
    ...(state === null ? {} : reportedAs(state)),
    ...conditionsFilter(query),
    isDeleted: false,
    ...(includeHidden ? {} : { isHidden: false }),
    ...(Object.keys(id).length === 0 ? {} : { _id: id }),
    ...(Object.keys(conducted).length === 0 ? {} : { conducted }),
  };
}

function oldestId(conducted: Date): ObjectId {
  const recorded = Math.floor((conducted.getTime() - MAX_FUTURE_MS) / 1_000) - 1;
  return ObjectId.createFromTime(Math.min(Math.max(0, recorded), MAX_ID_TIME));
}

/** The last second that an id can contain. */
const MAX_ID_TIME = 0xffff_ffff;
