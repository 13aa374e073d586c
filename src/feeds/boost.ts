import type { Action, UserId } from '../domain/action.ts';
import {
  baseRelevancy,
  relevancyFor,
  type InteractionGroup,
  type RelevancyWeights,
} from '../domain/relevancy.ts';
import type { MembersRepository } from '../storage/members.ts';

export interface BoostDependencies {
  readonly members: Pick<MembersRepository, 'findByIds'>;
  readonly weights: RelevancyWeights;
}

/**
 * The relevancy of an action for each of these readers. Without interactions it is the same for everybody and costs
 * nothing; with interactions it needs to know the readers: one round trip.
 */
export async function relevancies(
  { members, weights }: BoostDependencies,
  action: Action,
  interactions: readonly InteractionGroup[],
  userIds: readonly UserId[],
): Promise<(userId: UserId) => Date> {
  if (interactions.length === 0) {
    const base = baseRelevancy(action);
    return () => base;
  }
  const known = new Map((await members.findByIds(userIds)).map((member) => [member.userId, member]));
  const forReader = relevancyFor(action, interactions, weights);
  return (userId) => forReader(known.get(userId) ?? { userId, departmentId: null, supervisorId: null });
}
