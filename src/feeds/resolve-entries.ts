import type { Action, UserId } from '../domain/action.ts';
import type { DeliveryReason, FeedEntry } from '../domain/newsfeed-item.ts';
import { passersOf, relevancyFor } from '../domain/relevancy.ts';
import type { Follow } from '../domain/viewer.ts';
import { followsThatBoost } from './boost.ts';
import type { FeedDependencies } from './feed-dependencies.ts';

export type PlaceEntry = (userId: UserId, action: Action, reasons: readonly DeliveryReason[]) => FeedEntry;

/**
 * Prepares to compute entries of many actions for many readers, including boosts. Two round trips if any of the actions has
 * interactions, otherwise none. The second one also loads follows: of resharers, and assigned ones unless they are known.
 *
 * @param known for a single reader: their follows of the refs of these actions.
 */
export async function resolveEntries(
  { interactions, members, follows, weights }: FeedDependencies,
  actions: readonly Action[],
  userIds: readonly UserId[],
  known?: readonly Follow[],
): Promise<PlaceEntry> {
  const lively = actions.filter((action) => action.isBumped);
  const summaries = await interactions.summaries(lively.map((action) => action.id));
  const passers = new Set([...summaries.values()].flatMap(({ groups }) => passersOf(groups)));
  const refIds = known === undefined ? lively.flatMap((action) => action.refIds) : [];
  const [found, followed] = await Promise.all([
    summaries.size === 0 ? [] : members.findByIds(userIds),
    followsThatBoost({ follows }, userIds, { passers: [...passers], refIds }),
  ]);
  const readers = new Map(found.map((member) => [member.userId, member]));
  const boosts = new Map(
    actions.map((action) => [
      action.id,
      relevancyFor(action, summaries.get(action.id)?.groups ?? [], weights),
    ]),
  );
  return (userId, action, reasons) => {
    const reader = readers.get(userId) ?? { userId, departmentId: null, supervisorId: null };
    const boost = boosts.get(action.id) ?? relevancyFor(action, [], weights);
    const relevancy = boost({ ...reader, follows: [...(followed.get(userId) ?? []), ...(known ?? [])] });
    return { actionId: action.id, relevancy, reasons };
  };
}
