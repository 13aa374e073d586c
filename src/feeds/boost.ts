import type { Context } from './context.ts';
import type { Action, RefId, UserId } from '../domain/action.ts';
import {
  baseRelevancy,
  concernedGroups,
  passersOf,
  relevancyFor,
  type InteractionGroup,
} from '../domain/relevancy.ts';
import type { Follow } from '../domain/viewer.ts';

/**
 * The relevancy of an action for each of these readers. Without interactions it is equal for all and costs nothing. With
 * interactions it takes one round trip for the members among the readers whose department or supervisor matters, the readers'
 * assigned follows of the action's refs and, if there are reshares, their follows of the resharers.
 */
export async function relevancies(
  { members, follows, weights }: Context,
  action: Action,
  interactions: readonly InteractionGroup[],
  userIds: readonly UserId[],
): Promise<(userId: UserId) => Date> {
  if (interactions.length === 0) {
    const base = baseRelevancy(action);
    return () => base;
  }
  const [found, followed] = await Promise.all([
    members.amongGroups(userIds, concernedGroups(action, interactions)),
    followsThatBoost(follows, userIds, { passers: passersOf(interactions), refIds: action.refIds }),
  ]);
  const known = new Map(found.map((member) => [member.userId, member]));
  const forReader = relevancyFor(action, interactions, weights);
  return (userId) =>
    forReader({
      ...(known.get(userId) ?? { userId, departmentId: null, supervisorId: null }),
      follows: followed.get(userId) ?? [],
    });
}

/** The readers' follows that may boost actions: of resharers, and assigned ones of refs. One round trip. */
export async function followsThatBoost(
  follows: Context['follows'],
  userIds: readonly UserId[],
  { passers, refIds }: { readonly passers: readonly UserId[]; readonly refIds: readonly RefId[] },
): Promise<ReadonlyMap<UserId, readonly Follow[]>> {
  const [ofPassers, assigned] = await Promise.all([
    follows.amongPassers(userIds, passers),
    follows.assignedAmong(userIds, refIds),
  ]);
  if (assigned.length === 0) return ofPassers;
  const all = new Map(ofPassers);
  for (const { followerId, ...follow } of assigned)
    all.set(followerId, [...(all.get(followerId) ?? []), follow]);
  return all;
}
