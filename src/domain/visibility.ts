import type { Action, RefId, Reshare, UserId } from './action.ts';
import { departmentKey, reachesFollowers, teamKey } from './audience.ts';
import {
  anySpanBrings,
  anySpanContains,
  spanBrings,
  spanBringsPassedOn,
  type TypedAction,
} from './follow-span.ts';
import { isBlocked } from './block.ts';
import { isMutedPerson } from './mute.ts';
import type { DeliveryReason } from './newsfeed-item.ts';
import { areBeside } from './stored-id.ts';
import type { Follow, ReaderProfile } from './viewer.ts';

/** The fields of an action that the rules of visibility need. */
export type VisibleAction = Pick<
  Action,
  | 'id'
  | 'actorId'
  | 'recorded'
  | 'scope'
  | 'audience'
  | 'mentions'
  | 'recipients'
  | 'refIds'
  | 'pullRefIds'
  | 'reshares'
  | 'audienceRev'
  | 'isHidden'
  | 'isDeleted'
> &
  TypedAction;

/** The facts about a reader that decide what they may see. */
type Entitled = Pick<ReaderProfile, 'userId' | 'isAdmin' | 'member' | 'blocks'>;

function isInScopeGroup(reader: Entitled, action: VisibleAction): boolean {
  const member = reader.member;
  if (member === null) return false;
  if (action.scope === 'TEAM')
    return member.teamId !== null && action.audience.includes(teamKey(member.teamId));
  if (action.scope === 'DEPARTMENT')
    return member.departmentId !== null && action.audience.includes(departmentKey(member.departmentId));
  return false;
}

/** `false` when visibility is decided without follows of the reader beyond these. */
export function needsFollows(
  reader: Entitled,
  action: VisibleAction,
  known: readonly Follow[] = [],
): boolean {
  return action.scope === 'FOLLOWERS' && !isEntitled(reader, action, known);
}

/**
 * May the reader see the action at all, in any list? Hidden actions, and those of members between whom and the reader there is
 * a block: admins only. Deleted actions and those that are not beside the reader: nobody. The types that a follow takes do
 * not matter here.
 * @param follows the reader's follows of this action's refs; extra follows do no harm.
 */
export function isEntitled(reader: Entitled, action: VisibleAction, follows: readonly Follow[]): boolean {
  if (action.isDeleted || !areBeside(action.actorId, reader.userId)) return false;
  if (reader.isAdmin) return true;
  if (action.isHidden || isBlocked(reader, action.actorId)) return false;
  if (action.actorId === reader.userId || action.scope === 'PUBLIC') return true;
  if (action.mentions.includes(reader.userId) || action.recipients.includes(reader.userId)) return true;
  if (isInScopeGroup(reader, action)) return true;
  if (action.scope !== 'FOLLOWERS') return false;
  return follows.some(
    (follow) =>
      action.refIds.includes(follow.refId) && (follow.active || anySpanContains(follow.spans, action)),
  );
}

/** One way in which an action is addressed to a reader. */
export interface AddressedBy {
  readonly reason: DeliveryReason;
  /** The ref, team or department; `null` when the action names the reader. */
  readonly via: string | null;
  /** Start of the reader's membership or follow. */
  readonly since: Date | null;
  /** End of it; `null`: still ongoing. */
  readonly until: Date | null;
}

/**
 * All ways in which an action is addressed to the reader; empty when it does not belong in their feed.
 * @param follows the reader's follows of the action's `followableIds`; extra follows do no harm.
 */
export function addressedBy(
  reader: ReaderProfile,
  action: VisibleAction,
  follows: readonly Follow[],
): AddressedBy[] {
  if (!areBeside(action.actorId, reader.userId) || isBlocked(reader, action.actorId)) return [];
  const ways: AddressedBy[] = [];
  if (action.mentions.includes(reader.userId)) ways.push(NAMED.MENTION);
  if (action.recipients.includes(reader.userId)) ways.push(NAMED.RECIPIENT);
  if (isInScopeGroup(reader, action)) {
    const isTeam = action.scope === 'TEAM';
    const since = isTeam ? reader.member?.teamSince : reader.member?.departmentSince;
    const via = (isTeam ? reader.member?.teamId : reader.member?.departmentId) ?? null;
    if (since != null && action.recorded.getTime() >= since.getTime())
      ways.push({ reason: isTeam ? 'TEAM' : 'DEPARTMENT', via, since, until: null });
  }
  if (reachesFollowers(action)) {
    const through = follows.flatMap(({ refId, spans }) => {
      const span = action.refIds.includes(refId) ? spans.find((one) => spanBrings(one, action)) : undefined;
      return span === undefined ? [] : [{ via: refId, since: span.since, until: span.until ?? null }];
    });
    for (const way of through)
      if (!action.pullRefIds.includes(way.via)) ways.push({ reason: 'FOLLOW', ...way });
    for (const way of through) if (action.pullRefIds.includes(way.via)) ways.push({ reason: 'PULL', ...way });
  }
  return [...ways, ...passedOnBy(reader, action, follows)];
}

/** Resharers who bring the action to the reader, newest first. */
export function passedOnBy(
  reader: ReaderProfile,
  action: VisibleAction,
  follows: readonly Follow[],
): AddressedBy[] {
  if (action.scope !== 'PUBLIC') return [];
  return action.reshares.flatMap(({ by, at }) => {
    if (isMutedPerson(reader.mutes, by)) return [];
    const spans = follows.flatMap((follow) => (follow.refId === by ? follow.spans : []));
    const span = spans.find((one) => spanBringsPassedOn(one, action, at));
    return span === undefined || isBlocked(reader, by)
      ? []
      : [{ reason: 'RESHARE' as const, via: by, since: span.since, until: span.until ?? null }];
  });
}

/** Ids a reader may follow to receive an action: its refs and its resharers. */
export function followableIds({ refIds, reshares }: Pick<Action, 'refIds' | 'reshares'>): RefId[] {
  return reshares.length === 0 ? [...refIds] : [...new Set([...refIds, ...reshares.map(byOf)])];
}

/** Members of whom the rules need to know whether there is a block: who did it, and resharers whom the reader follows or followed. */
export function blocksAsked({ actorId, reshares }: VisibleAction, follows: readonly Follow[]): UserId[] {
  const followed = reshares.filter(({ by }) => follows.some(({ refId }) => refId === by));
  return [actorId, ...followed.map(byOf)];
}

/** Never empty: without refs it contains one id that no ref has, so that a lookup costs the same either way. */
export function orNone(refIds: readonly RefId[]): readonly RefId[] {
  return refIds.length === 0 ? [''] : refIds;
}

function byOf({ by }: Reshare): RefId {
  return by;
}

const NAMED = {
  MENTION: { reason: 'MENTION', via: null, since: null, until: null },
  RECIPIENT: { reason: 'RECIPIENT', via: null, since: null, until: null },
} as const satisfies Readonly<Record<string, AddressedBy>>;

/**
 * Reasons why an action belongs in the reader's feed; empty when it does not.
 * @param follows the reader's follows of the action's `followableIds`; extra follows do no harm.
 */
export function addressedReasons(
  reader: ReaderProfile,
  action: VisibleAction,
  follows: readonly Follow[],
): DeliveryReason[] {
  return [...new Set(addressedBy(reader, action, follows).map(({ reason }) => reason))];
}

/** Whether the reader pulls the action at read time, whether or not it was pushed as well. */
export function isPulledFor({ pulledFollows }: ReaderProfile, action: VisibleAction): boolean {
  return (
    action.pullRefIds.length > 0 &&
    reachesFollowers(action) &&
    pulledFollows.some(
      ({ refId, spans }) => action.pullRefIds.includes(refId) && anySpanBrings(spans, action),
    )
  );
}

/** Whether reasons stored in feeds may be outdated for this action, so that the reader's follows must be loaded. */
export function mustAskFollows({ audienceRev }: VisibleAction): boolean {
  return audienceRev > 0;
}

/**
 * Whether the reader mutes one of the resharers, or may have a block with one: the action may have been delivered only because
 * of that reshare.
 */
export function mutesPasser(reader: ReaderProfile, { reshares }: VisibleAction): boolean {
  const { mutes, blocks } = reader;
  if (!blocks.isWhole) return reshares.length > 0;
  if (mutes.list.length + blocks.size === 0) return false;
  return reshares.some(({ by }) => isMutedPerson(mutes, by) || isBlocked(reader, by));
}

/**
 * Ids of the reader's lists in which an action is: those of what brings it by being followed, and of its actor.
 * @param follows the reader's follows of its `followableIds`; extra follows do no harm.
 */
export function listsOf(
  reader: ReaderProfile,
  action: VisibleAction,
  follows: readonly Follow[],
): readonly string[] {
  if (reader.lists.length === 0) return [];
  const own = follows.filter(({ active, lists }) => active && lists !== undefined);
  if (own.length === 0) return [];
  const bringing = new Set(
    addressedBy(reader, action, own).flatMap(({ reason, via }) => (BY_FOLLOWING.has(reason) ? via : null)),
  );
  const within = own.filter(({ refId }) => refId === action.actorId || bringing.has(refId));
  const named = new Set(within.flatMap(({ lists }) => lists ?? []));
  return reader.lists.flatMap(({ id }) => (named.has(id) ? id : []));
}

const BY_FOLLOWING: ReadonlySet<DeliveryReason> = new Set(['FOLLOW', 'PULL', 'RESHARE']);

/**
 * Which of the reasons an entry was delivered for hold now. A mention stands as long as the action names the reader, a
 * team or department as long as the reader is in it and was when the action was recorded. Once an edit has changed the
 * audience, nothing that was stored counts: the reasons are those of now.
 *
 * @param follows the reader's follows of `followableIds` of this action, or null to trust that a delivered follow
 *   stands: it does unless the reader has ever taken a follow back with its history, or `mustAskFollows` or
 *   `mutesPasser` says so.
 */
export function currentReasons(
  reader: ReaderProfile,
  action: VisibleAction,
  reasons: readonly DeliveryReason[],
  follows: readonly Follow[] | null,
): readonly DeliveryReason[] {
  const isEdited = mustAskFollows(action);
  if (follows === null && !isEdited && reasons.every((reason) => BY_FOLLOWING.has(reason))) return reasons;
  const own = addressedReasons(reader, action, follows ?? []);
  if (isEdited) return own;
  return reasons.filter((reason) => own.includes(reason) || (follows === null && BY_FOLLOWING.has(reason)));
}
