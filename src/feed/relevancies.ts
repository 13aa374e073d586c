import type { Context } from './context.ts';
import type { Action, UserId } from '../domain/action.ts';
import { blockTag } from '../domain/block.ts';
import {
  baseRelevancy,
  concernedGroups,
  isAskedAbout,
  passersOf,
  relevancyFor,
  type InteractionGroup,
  type RelevancyAction,
} from '../domain/relevancy.ts';
import type { Follow } from '../domain/viewer.ts';
import type { DeliveryReason, FeedEntry } from '../domain/newsfeed-item.ts';

/** Members with very many blocks who are asked about at once. What others of them do lifts nobody. */
const MOST_ASKED = 20;

/**
 * Interactions as they count for these readers: of members with very many blocks it is asked whether there is one now. No round trip
 * unless one of these has interacted.
 */
export async function asCounting(
  { blocks }: Pick<Context, 'blocks'>,
  interactions: readonly InteractionGroup[],
  userIds: readonly UserId[],
): Promise<<Group extends InteractionGroup>(of: readonly Group[]) => readonly Group[]> {
  const actorIds = new Set(
    interactions.flatMap(({ actorId, ...of }) => (isAskedAbout(of) ? (actorId ?? []) : [])),
  );
  const asked = [...actorIds].slice(0, MOST_ASKED);
  if (asked.length === 0) return (of) => of;
  const found = await blocks.findPairs(
    asked.flatMap((otherId) => userIds.map((userId) => ({ userId, otherId }))),
  );
  const notFor = new Map<UserId, string[]>(asked.map((actorId) => [actorId, []]));
  for (const { userId, otherId } of found) notFor.get(otherId)?.push(blockTag(userId));
  return (of) =>
    of.map((group) => {
      const known = group.actorId !== null && isAskedAbout(group) ? notFor.get(group.actorId) : undefined;
      return known === undefined ? group : { ...group, notFor: known };
    });
}

/**
 * The relevancy of an action for each of these readers. Without interactions it is equal for all and costs nothing. With
 * interactions it takes one round trip for the members among the readers whose department or supervisor matters, the readers'
 * assigned follows of the action's refs and, if there are reshares, their follows of the resharers.
 */
export async function relevancies(
  { blocks, members, follows, weights }: Context,
  action: Action,
  interactions: readonly InteractionGroup[],
  userIds: readonly UserId[],
): Promise<(userId: UserId) => Date> {
  if (interactions.length === 0) {
    const base = baseRelevancy(action);
    return () => base;
  }
  const [counting, found, ofPassers, assigned] = await Promise.all([
    asCounting({ blocks }, interactions, userIds),
    members.amongGroups(userIds, concernedGroups(action, interactions)),
    follows.amongPassers(userIds, passersOf(interactions)),
    follows.assignedAmong(userIds, action.refIds),
  ]);
  const followed = withAssigned(ofPassers, assigned);
  const known = new Map(found.map((member) => [member.userId, member]));
  const forReader = relevancyFor(action, counting(interactions), weights);
  return (userId) =>
    forReader({
      ...(known.get(userId) ?? { userId, departmentId: null, supervisorId: null }),
      follows: followed.get(userId) ?? [],
    });
}

/** The readers' follows that may boost actions: of resharers, and assigned ones of refs. */
function withAssigned(
  ofPassers: ReadonlyMap<UserId, readonly Follow[]>,
  assigned: readonly (Follow & { readonly followerId: UserId })[],
): ReadonlyMap<UserId, readonly Follow[]> {
  if (assigned.length === 0) return ofPassers;
  const all = new Map(ofPassers);
  for (const { followerId, ...follow } of assigned)
    all.set(followerId, [...(all.get(followerId) ?? []), follow]);
  return all;
}

/** The fields of an action that decide where it stands. */
export type LocatedAction = RelevancyAction & Pick<Action, 'id' | 'rev' | 'isBumped'>;

export type PlaceEntry = (
  userId: UserId,
  action: LocatedAction,
  reasons: readonly DeliveryReason[],
) => FeedEntry;

/**
 * Prepares to compute entries of many actions for many readers, including boosts. At most two round trips if any of the actions has
 * interactions, otherwise none. The second one is for supervisors and resharers, if there are any.
 *
 * @param known for a single reader: their follows of the refs of these actions.
 */
export async function resolveEntries(
  context: Context,
  actions: readonly LocatedAction[],
  userIds: readonly UserId[],
  known?: readonly Follow[],
): Promise<PlaceEntry> {
  const lively = actions.filter((action) => action.isBumped);
  if (lively.length === 0)
    return (_userId, action, reasons) => placed(action, baseRelevancy(action), reasons);
  const { blocks, interactions, members, follows, weights } = context;
  const ids = lively.map((action) => action.id);
  const refIds = known === undefined ? lively.flatMap((action) => action.refIds) : [];
  const [lifts, found, assigned] = await Promise.all([
    interactions.liftsOf(ids),
    members.findByIds(userIds),
    follows.assignedAmong(userIds, refIds),
  ]);
  const passers = new Set([...lifts.values()].flatMap(passersOf));
  const supervisors = new Set(found.flatMap(({ supervisorId }) => supervisorId ?? []));
  const [counting, liftsBySupervisors, ofPassers] = await Promise.all([
    asCounting({ blocks }, [...lifts.values()].flat(), userIds),
    interactions.liftsBy([...lifts.keys()], [...supervisors]),
    follows.amongPassers(userIds, [...passers]),
  ]);
  const followed = withAssigned(ofPassers, assigned);
  const readers = new Map(found.map((member) => [member.userId, member]));
  const boosts = new Map(
    actions.map((action) => [
      action.id,
      relevancyFor(
        action,
        counting([...(lifts.get(action.id) ?? []), ...(liftsBySupervisors.get(action.id) ?? [])]),
        weights,
      ),
    ]),
  );
  return (userId, action, reasons) => {
    const reader = readers.get(userId) ?? { userId, departmentId: null, supervisorId: null };
    const boost = boosts.get(action.id) ?? relevancyFor(action, [], weights);
    const relevancy = boost({ ...reader, follows: [...(followed.get(userId) ?? []), ...(known ?? [])] });
    return placed(action, relevancy, reasons);
  };
}

function placed({ id, rev }: LocatedAction, relevancy: Date, reasons: readonly DeliveryReason[]): FeedEntry {
  return { actionId: id, relevancy, reasons, rev };
}
