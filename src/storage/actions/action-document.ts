import type { Action, ActionTexts, RefId, ActionId, FanOutState, UserId } from '../../domain/action.ts';
import { concernedAtFirst, namedBy } from '../../domain/audience.ts';
import { blockTag } from '../../domain/block.ts';
import { fieldBeside } from '../../domain/stored-id.ts';
import { clock } from '../../lib/clock.ts';
import { DEFAULT_LANE, type Lane } from '../../domain/lane.ts';
import { groupKeyOf } from '../../descriptors/group-key.ts';
import { idsOf } from '../../descriptors/ids.ts';
import { concernedByDescriptor } from '../../descriptors/names.ts';
import { idOfTime } from '../database/database-time.ts';
import { type ActionDocument, type NewClaim, toEngagement } from '../documents/documents.ts';
import type { EventEntries } from '../stages/event-entries.ts';
import { traceToKeep, reportedAs } from '../stages/fan-out-stages.ts';
import { nameStamp, namesShown, UNCARRIED } from '../stamps/directory-stamps.ts';
import { newRevision } from '../stages/revision.ts';
import { ObjectId, type Filter } from 'mongodb';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import { beyond, type Stretch, turned } from '../documents/keyset.ts';

export const VISIBLE = { isDeleted: false, isHidden: false } as const;
export const VISIBLE_TO_FOLLOWERS: Filter<ActionDocument> = {
  ...VISIBLE,
  scope: { $in: ['FOLLOWERS', 'PUBLIC'] },
};

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

/** The same with what none may have: the others are looked at, but not transferred. */
export interface WantedActions extends ActionConditions {
  readonly notByActorIds?: readonly UserId[];
  readonly notOfTypes?: readonly string[];
  readonly notOfRefIds?: readonly RefId[];
  readonly notOfTags?: readonly string[];
}

export function wantedFilter(wanted: WantedActions): Filter<ActionDocument> {
  const { notByActorIds = [], notOfTypes = [], notOfRefIds = [], notOfTags = [], ...conditions } = wanted;
  const not = [
    ...(notByActorIds.length === 0 ? [] : [{ actorId: { $nin: [...notByActorIds] } }]),
    ...(notOfTypes.length === 0 ? [] : [{ 'descriptor.type': { $nin: [...notOfTypes] } }]),
    ...(notOfRefIds.length === 0 ? [] : [{ refIds: { $nin: [...notOfRefIds] } }]),
    ...(notOfTags.length === 0 ? [] : [{ 'descriptor.tags': { $nin: [...notOfTags] } }]),
  ];
  return { ...conditionsFilter(conditions), ...(not.length === 0 ? {} : { $and: not }) };
}

/** Whether an action can be none of the wanted, by what no edit changes of it. */
export function isNeverWanted(
  { types, actorIds, notOfTypes, notByActorIds }: WantedActions,
  { actorId, descriptor }: Pick<Action, 'actorId' | 'descriptor'>,
): boolean {
  return (
    types?.includes(descriptor.type) === false ||
    actorIds?.includes(actorId) === false ||
    notOfTypes?.includes(descriptor.type) === true ||
    notByActorIds?.includes(actorId) === true
  );
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
export interface ActionListQuery extends ActionConditions, Stretch<{ readonly id: ActionId }> {
  readonly beside: UserId;
  readonly state: FanOutState | null;
  readonly includeHidden: boolean;
  /** Range of `conducted`: `since` inclusive, `until` exclusive. */
  readonly since?: Date;
  readonly until?: Date;
}

export const NEWEST_RECORDED = { _id: -1 } as const;

/** Ids start with the time of recording, and `conducted` is at most slightly later: so `since` also bounds the ids. */
export function actionListFilter(query: ActionListQuery): Filter<ActionDocument> {
  const { beside, state, includeHidden, from, isUp, since, until } = query;
  const { _id: place } = beyond(turned(NEWEST_RECORDED, isUp), from && { _id: new ObjectId(from.id) });
  const id = {
    ...(place as object | undefined),
    ...(since === undefined ? {} : { $gte: oldestId(since) }),
  };
  const conducted = {
    ...(since === undefined ? {} : { $gte: since }),
    ...(until === undefined ? {} : { $lt: until }),
  };
  return {
    ...fieldBeside(beside),
    ...(state === null ? {} : reportedAs(state)),
    ...conditionsFilter(query),
    isDeleted: false,
    ...(includeHidden ? {} : { isHidden: false }),
    ...(Object.keys(id).length === 0 ? {} : { _id: id }),
    ...(Object.keys(conducted).length === 0 ? {} : { conducted }),
  };
}

/** Actions that the time in their ids does not find, since they were put off, published since then. Index `put_off`. */
export const putOffUntil = (since: Date): Filter<ActionDocument> => ({
  publishedAt: { $exists: true, $gte: since },
});

function oldestId(conducted: Date): ObjectId {
  const recorded = Math.floor((conducted.getTime() - MAX_FUTURE_MS) / 1_000) - 1;
  return ObjectId.createFromTime(Math.min(Math.max(0, recorded), MAX_ID_TIME));
}

/** The last second that an id can contain. */
const MAX_ID_TIME = 0xffff_ffff;

/** An action to publish, without its fan-out state and derived fields. */
export type NewAction = Omit<
  Action,
  | 'id'
  | 'rev'
  | 'engagement'
  | 'commentsVersion'
  | 'version'
  | 'editedAt'
  | 'audienceRev'
  | 'concerned'
  | 'formerlyConcerned'
  | 'groupKey'
  | 'expiresAt'
  | 'isHidden'
  | 'isDeleted'
  | 'fanOut'
  | 'pullRefIds'
  | 'reshares'
  | 'isBumped'
> & {
  /** Default: never expires. */
  readonly expiresAt?: Date | null;
  readonly lane: Lane;
  /** Imported: hosts get no delivery events for it. Default: false. */
  readonly isImported?: boolean;
  /** By somebody whom no block affects, such as a program of the host. Default: false. */
  readonly isOfHost?: boolean;
  /** Hidden until a moderator shows it. Default: false. */
  readonly isHeld?: boolean;
  /** The members that it names in vain. Default: nobody. */
  readonly inVain?: ReadonlySet<UserId>;
};

/** Ids of things and people in an action, without those whom it only mentions or addresses. */
export function idsWithin({ refs, descriptor }: ActionTexts): string[] {
  return [...new Set([...refs.map(({ id }) => id), ...idsOf(descriptor)])];
}

/** Ids in the descriptor that are covered neither by the refs nor by copied names. */
export function otherIdsOf(action: ActionTexts & { readonly refIds: readonly RefId[] }): string[] {
  const names = namesShown(action);
  return idsOf(action.descriptor).filter((id) => !action.refIds.includes(id) && !names.includes(id));
}

/** The members whom an audience names in vain, in the form in which they are stored. */
function inVainFor(
  audience: readonly string[],
  inVain: ReadonlySet<UserId> | undefined,
): Pick<ActionDocument, 'notFor'> {
  const among = [...namedBy(audience).keys()].filter((userId) => inVain?.has(userId) === true);
  return among.length === 0 ? {} : { notFor: among.map(blockTag) };
}

/** The times of what is to be published later: before all others, so that no read of the newest comes across it. */
const NOT_YET = new Date(0);

/** @param claim by which its insert claims it, if it is to be delivered in the lane LIVE; `null`: not. */
export function newActionDocument(
  action: NewAction,
  events: EventEntries,
  claim: NewClaim | null,
): ActionDocument {
  const names = namesShown(action);
  const otherIds = otherIdsOf(action);
  const groupKey = groupKeyOf(action);
  const { publishAt } = action;
  const isLater = publishAt !== undefined;
  const trace = isLater ? undefined : traceToKeep();
  const concerned = concernedAtFirst(action, concernedByDescriptor(action.descriptor));
  return {
    rev: newRevision(),
    // Contains the recording time instead of this machine's time: see `addressedSince`.
    _id: idOfTime(publishAt ?? action.recorded),
    ...fieldBeside(action.actorId),
    actorId: action.actorId,
    conducted: isLater ? NOT_YET : action.conducted,
    recorded: isLater ? NOT_YET : action.recorded,
    ...(!isLater && action.conducted > action.recorded ? { isAhead: true } : {}),
    ...(action.idempotencyKey === null ? {} : { idempotencyKey: action.idempotencyKey }),
    scope: action.scope,
    audience: [...action.audience],
    ...inVainFor(action.audience, action.inVain),
    ...(action.unnamed === undefined ? {} : { unnamed: [...action.unnamed] }),
    mentions: [...action.mentions],
    recipients: [...action.recipients],
    refs: action.refs.map((ref) => ({ ...ref })),
    ...(action.givenRefs === null ? {} : { givenRefs: action.givenRefs }),
    refIds: [...action.refIds],
    ...(names.length === 0 ? {} : { names: names.map((id) => nameStamp(id, UNCARRIED)) }),
    ...(otherIds.length === 0 ? {} : { otherIds }),
    descriptor: { ...action.descriptor, tags: [...action.descriptor.tags] },
    ...(groupKey === null ? {} : { groupKey }),
    ...(concerned === null ? {} : { concerned: concerned.map(({ key }) => ({ key })) }),
    engagement: { comments: 0, likes: 0, reshares: 0, lastInteraction: null },
    ...(action.expiresAt == null ? {} : { expiresAt: action.expiresAt }),
    isHidden: action.isHeld ?? false,
    ...(action.isHeld === true ? { isWithheld: true } : {}),
    ...(isLater ? { publishAt } : {}),
    isDeleted: isLater,
    latest: isLater ? NOT_YET : action.latest,
    fanOut: {
      ...(isLater || claim === null || action.lane !== 'LIVE'
        ? { state: 'PENDING', attempts: 0, ...(isLater ? {} : { leaseUntil: action.recorded }) }
        : {
            ...{ state: 'IN_PROGRESS', attempts: 1, begun: 1 },
            ...{ worker: claim.token, leaseUntil: new Date(clock.time() + claim.leaseMs) },
          }),
      version: 1,
      lane: action.lane,
      delivered: 0,
      error: null,
      ...(events.isOn && action.isImported !== true ? { recordsHostEvents: true } : {}),
      ...(trace === undefined ? {} : { trace }),
    },
    ...(isLater ? {} : events.inserted('action.published', action.recorded)),
  };
}

/** The action as readers see it: expired actions count as deleted, even before the pass that removes them. */
export function toAction(document: ActionDocument): Action {
  const action = toStoredAction(document);
  const { expiresAt, isDeleted } = action;
  if (expiresAt === null || isDeleted) return action;
  return {
    ...action,
    get isDeleted() {
      return clock.time() >= expiresAt.getTime();
    },
  };
}

const timesOf = (at: Date) => ({ conducted: at, recorded: at, latest: at });

/** The action as stored, for fan-out passes: they process expired actions until these are deleted. */
export function toStoredAction(document: ActionDocument): Action {
  const {
    _id,
    tenant: _tenant,
    idempotencyKey,
    fanOut,
    pullRefIds,
    reshares,
    expiresAt,
    isBumped,
    commentsVersion = 0,
    engagement,
    version,
    editedAt,
    audienceRev,
    concerned,
    formerlyConcerned,
    givenRefs,
    undecidedRefIds: _undecidedRefIds,
    unlogged: _unlogged,
    offload: _offload,
    unsent: _unsent,
    unsentAt: _unsentAt,
    names: _names,
    otherIds: _otherIds,
    namedAt: _namedAt,
    isAhead: _isAhead,
    publishedAt: _publishedAt,
    groupKey,
    ...rest
  } = document;
  return {
    ...rest,
    ...(rest.publishAt && timesOf(rest.publishAt)),
    id: _id.toHexString(),
    idempotencyKey: idempotencyKey ?? null,
    version: version ?? 1,
    editedAt: editedAt ?? null,
    audienceRev: audienceRev ?? 0,
    concerned: concerned?.map(({ key, since }) => ({ key, since: since ?? null })) ?? null,
    formerlyConcerned: formerlyConcerned ?? [],
    givenRefs: givenRefs ?? null,
    expiresAt: expiresAt ?? null,
    groupKey: groupKey ?? null,
    ...{ pullRefIds: pullRefIds ?? [], reshares: reshares ?? [] },
    engagement: toEngagement(engagement),
    commentsVersion,
    isBumped: isBumped ?? engagement.lastInteraction !== null,
    fanOut: {
      state: fanOut.state,
      version: fanOut.version,
      attempts: fanOut.attempts,
      lane: fanOut.lane ?? DEFAULT_LANE,
      delivered: fanOut.delivered,
      error: fanOut.error,
      ...(fanOut.deliveredVersion === undefined ? {} : { deliveredVersion: fanOut.deliveredVersion }),
      ...(fanOut.trace === undefined ? {} : { trace: fanOut.trace }),
    },
  };
}
