import type { Action, ActionTexts, RefId } from '../../domain/action.ts';
import { concernedAtFirst } from '../../domain/concerned.ts';
import { tenantField } from '../../domain/tenant.ts';
import { clock } from '../../lib/clock.ts';
import { DEFAULT_LANE, type Lane } from '../../domain/lane.ts';
import { groupKeyOf } from '../../descriptors/group-key.ts';
import { idsOf } from '../../descriptors/ids.ts';
import { concernedByDescriptor } from '../../descriptors/refs.ts';
import { idOfTime } from '../database/database-time.ts';
import type { ActionDocument } from '../documents/documents.ts';
import type { EventEntries } from '../stages/event-entries.ts';
import { traceToKeep } from '../stages/fan-out-trace.ts';
import { toEngagement } from '../documents/engagement-document.ts';
import { nameStamp, namesShown, UNCARRIED } from '../directory/name-stamps.ts';
import { newRevision } from '../stages/revision.ts';

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
  /** Lane of its first delivery. */
  readonly lane: Lane;
  /** Imported: hosts get no delivery events for it. Default: false. */
  readonly isImported?: boolean;
};

/** Ids in the descriptor that are covered neither by the refs nor by copied names. */
export function otherIdsOf(action: ActionTexts & { readonly refIds: readonly RefId[] }): string[] {
  const names = namesShown(action);
  return idsOf(action.descriptor).filter((id) => !action.refIds.includes(id) && !names.includes(id));
}

export function newActionDocument(action: NewAction, events: EventEntries): ActionDocument {
  const names = namesShown(action);
  const otherIds = otherIdsOf(action);
  const groupKey = groupKeyOf(action);
  const trace = traceToKeep();
  const concerned = concernedAtFirst(action, concernedByDescriptor(action.descriptor));
  return {
    rev: newRevision(),
    // Contains the recording time instead of this machine's time: see `addressedSince`.
    _id: idOfTime(action.recorded),
    ...tenantField(action.actorId),
    actorId: action.actorId,
    conducted: action.conducted,
    recorded: action.recorded,
    ...(action.idempotencyKey === null ? {} : { idempotencyKey: action.idempotencyKey }),
    scope: action.scope,
    audience: [...action.audience],
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
    isHidden: false,
    isDeleted: false,
    latest: action.latest,
    fanOut: {
      state: 'PENDING',
      version: 1,
      attempts: 0,
      lane: action.lane,
      delivered: 0,
      error: null,
      leaseUntil: action.recorded,
      ...(events.isOn && action.isImported !== true ? { tellsHosts: true } : {}),
      ...(trace === undefined ? {} : { trace }),
    },
    ...events.inserted('action.published', action.recorded),
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
    groupKey,
    ...rest
  } = document;
  return {
    ...rest,
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
    pullRefIds: pullRefIds ?? [],
    reshares: reshares ?? [],
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
