import type { Action, UserId } from '../domain/action.ts';
import {
  baseRelevancy,
  passersOf,
  relevancyFor,
  type InteractionGroup,
  type RelevancyWeights,
} from '../domain/relevancy.ts';
import type { FollowsRepository } from '../storage/follows.ts';
import type { MembersRepository } from '../storage/members.ts';

export interface BoostDependencies {
  readonly members: Pick<MembersRepository, 'findByIds'>;
  readonly follows: Pick<FollowsRepository, 'amongPassers'>;
  readonly weights: RelevancyWeights;
}

/**
 * The relevancy of an action for each of these readers. Without interactions it is the same for everybody and costs
 * nothing; with interactions it needs to know the readers: one round trip, in which their follows of members who have
 * passed the action on are asked for where there are any.
 */
export async function relevancies(
  { members, follows, weights }: BoostDependencies,
  action: Action,
  interactions: readonly InteractionGroup[],
  userIds: readonly UserId[],
): Promise<(userId: UserId) => Date> {
  if (interactions.length === 0) {
    const base = baseRelevancy(action);
    return () => base;
  }
  const [found, followed] = await Promise.all([
    members.findByIds(userIds),
    follows.amongPassers(userIds, passersOf(interactions)),
  ]);
  const known = new Map(found.map((member) => [member.userId, member]));
  const forReader = relevancyFor(action, interactions, weights);
  return (userId) =>
    forReader({
      ...(known.get(userId) ?? { userId, departmentId: null, supervisorId: null }),
      follows: followed.get(userId) ?? [],
    });
}
