import type { Action, RefId, Reshare } from './action.ts';
import { departmentKey, reachesFollowers, teamKey } from './audience.ts';
import {
  anySpanBrings,
  anySpanContains,
  spanBrings,
  spanBringsPassedOn,
  type TypedAction,
} from './follow-span.ts';
import { isMutedMember } from './mute.ts';
import type { DeliveryReason } from './newsfeed-item.ts';
import { areOfOneTenant } from './tenant.ts';
import type { Follow, ReaderProfile } from './viewer.ts';

/** What entitlement reads of an action. */
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

function isInScopeGroup(reader: ReaderProfile, action: VisibleAction): boolean {
  const member = reader.member;
  if (member === null) return false;
  if (action.scope === 'TEAM')
    return member.teamId !== null && action.audience.includes(teamKey(member.teamId));
  if (action.scope === 'DEPARTMENT')
    return member.departmentId !== null && action.audience.includes(departmentKey(member.departmentId));
  return false;
}

/** False when entitlement to the action is known without what the reader follows. */
export function needsFollows(reader: ReaderProfile, action: VisibleAction): boolean {
  return action.scope === 'FOLLOWERS' && !isEntitled(reader, action, []);
}

/**
 * May the reader see the action at all, by whatever way in? Hidden actions: admins only; deleted ones, and those of another
 * tenant: nobody. What types a follow takes says nothing here.
 * @param follows the reader's follows of refs of this action; further ones do no harm.
 */
export function isEntitled(
  reader: ReaderProfile,
  action: VisibleAction,
  follows: readonly Follow[],
): boolean {
  if (action.isDeleted || !areOfOneTenant(action.actorId, reader.userId)) return false;
  if (reader.isAdmin) return true;
  if (action.isHidden) return false;
  if (action.actorId === reader.userId || action.scope === 'PUBLIC') return true;
  if (action.mentions.includes(reader.userId) || action.recipients.includes(reader.userId)) return true;
  if (isInScopeGroup(reader, action)) return true;
  if (action.scope !== 'FOLLOWERS') return false;
  return follows.some(
    (follow) =>
      action.refIds.includes(follow.refId) && (follow.active || anySpanContains(follow.spans, action)),
  );
}

/** One way by which an action is addressed to a reader. */
export interface AddressedBy {
  readonly reason: DeliveryReason;
  /** The ref, team or department; null where the action names the reader. */
  readonly via: string | null;
  /** Since when the reader has belonged there. */
  readonly since: Date | null;
  /** Until when; null: to this day. */
  readonly until: Date | null;
}

/**
 * Every way by which the action belongs in the reader's feed; none when it does not.
 * @param follows the reader's follows of `followableIds` of this action; further ones do no harm.
 */
export function addressedBy(
  reader: ReaderProfile,
  action: VisibleAction,
  follows: readonly Follow[],
): AddressedBy[] {
  if (!areOfOneTenant(action.actorId, reader.userId)) return [];
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

/** By whose reshares the action is addressed to the reader, the newest first. */
export function passedOnBy(
  { mutes }: Pick<ReaderProfile, 'mutes'>,
  action: Pick<Action, 'scope' | 'reshares'> & TypedAction,
  follows: readonly Follow[],
): AddressedBy[] {
  if (action.scope !== 'PUBLIC') return [];
  return action.reshares.flatMap(({ by, at }) => {
    if (isMutedMember(mutes, by)) return [];
    const spans = follows.flatMap((follow) => (follow.refId === by ? follow.spans : []));
    const span = spans.find((one) => spanBringsPassedOn(one, action, at));
    return span === undefined
      ? []
      : [{ reason: 'RESHARE' as const, via: by, since: span.since, until: span.until ?? null }];
  });
}

/** What a reader may follow of an action: its refs, and who has passed it on. */
export function followableIds({ refIds, reshares }: Pick<Action, 'refIds' | 'reshares'>): RefId[] {
  return reshares.length === 0 ? [...refIds] : [...new Set([...refIds, ...reshares.map(byOf)])];
}

/** At least one id, which no ref has where there are none: to look follows up is then as much work. */
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
 * Why the action belongs in the reader's feed; empty when it does not.
 * @param follows the reader's follows of `followableIds` of this action; further ones do no harm.
 */
export function addressedReasons(
  reader: ReaderProfile,
  action: VisibleAction,
  follows: readonly Follow[],
): DeliveryReason[] {
  return [...new Set(addressedBy(reader, action, follows).map(({ reason }) => reason))];
}

/** Whether the action comes into the reader's feed by being pulled when it is read, whatever was pushed besides. */
export function isPulledFor(
  { pulledFollows }: ReaderProfile,
  action: Pick<Action, 'id' | 'recorded' | 'scope' | 'pullRefIds'> & TypedAction,
): boolean {
  return (
    action.pullRefIds.length > 0 &&
    reachesFollowers(action) &&
    pulledFollows.some(
      ({ refId, spans }) => action.pullRefIds.includes(refId) && anySpanBrings(spans, action),
    )
  );
}

/** Whether what is stored of an action says nothing of why it is in a feed. */
export function mustAskFollows({ audienceRev }: Pick<Action, 'audienceRev'>): boolean {
  return audienceRev > 0;
}

/** Whether the reader mutes somebody who has passed it on, who may be why it was delivered. */
export function mutesPasser(
  { mutes }: Pick<ReaderProfile, 'mutes'>,
  { reshares }: Pick<Action, 'reshares'>,
): boolean {
  return mutes.members.size > 0 && reshares.some(({ by }) => isMutedMember(mutes, by));
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
): DeliveryReason[] {
  const own = addressedReasons(reader, action, follows ?? []);
  if (mustAskFollows(action)) return own;
  return reasons.filter((reason) => own.includes(reason) || (follows === null && BY_FOLLOWING.has(reason)));
}
