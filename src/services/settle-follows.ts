import type { Action, UserId } from '../domain/action.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';
import { anySpanContains } from '../domain/follow-span.ts';
import { resynchronise, type ResynchroniseDependencies } from '../fanout/announce.ts';
import { fillFeed, type FillFeedDependencies } from '../fanout/fill-feed.ts';
import type { ActionsRepository } from '../storage/actions.ts';
import type { FollowsRepository, UnsettledFollow } from '../storage/follows.ts';
import type { RefsRepository } from '../storage/refs.ts';
import { placing, type PlacingDependencies } from '../feeds/placing.ts';

export interface SettleFollowsDependencies extends FillFeedDependencies, PlacingDependencies {
  readonly actions: Pick<ActionsRepository, 'recordedSince' | 'findByIds'>;
  readonly follows: Pick<FollowsRepository, 'settle' | 'countFollowers'>;
  readonly liveLog: FillFeedDependencies['liveLog'] & ResynchroniseDependencies['liveLog'];
  readonly refs: Pick<RefsRepository, 'addFollowers' | 'setFollowers'>;
}

/** Most entries written to a feed at once. */
const FILL_CHUNK = 1_000;

/**
 * Brings what open spans already hold into the feeds – past actions that come along, and those whose fan-out read the
 * followers just before – and counts the followers.
 *
 * @param token the call that is settling. Follows left behind by another call are counted anew, since nobody knows
 *   how far it came.
 */
export async function settleFollows(
  dependencies: SettleFollowsDependencies,
  opened: readonly UnsettledFollow[],
  token: string,
): Promise<void> {
  if (opened.length === 0) return;
  await fillFeeds(dependencies, opened);
  await resynchronise(dependencies, byFollower(opened.filter((follow) => follow.token !== token)).keys());
  await countFollowers(dependencies, opened, token);
  await dependencies.follows.settle(opened);
}

async function fillFeeds(
  dependencies: SettleFollowsDependencies,
  opened: readonly UnsettledFollow[],
): Promise<void> {
  const since = Math.min(...opened.map((follow) => openSince(follow)));
  const refIds = [...new Set(opened.map((follow) => follow.refId))];
  const actions = await dependencies.actions.recordedSince(refIds, new Date(since));
  if (actions.length === 0) return;
  const place = await placing(dependencies, actions, [...new Set(opened.map((follow) => follow.followerId))]);
  for (const [userId, follows] of byFollower(opened)) {
    const entries = actions.flatMap((action) =>
      isHeld(action, follows) ? [place(userId, action, reasonsFor(userId, action))] : [],
    );
    for (let at = 0; at < entries.length; at += FILL_CHUNK)
      await fillFeed(dependencies, userId, entries.slice(at, at + FILL_CHUNK), { tellHeld: true });
  }
}

/** Whoever is told of the item is told all the reasons there are. */
function reasonsFor(userId: UserId, { mentions }: Action): DeliveryReason[] {
  return mentions.includes(userId) ? ['MENTION', 'FOLLOW'] : ['FOLLOW'];
}

function openSince(follow: UnsettledFollow): number {
  return Math.max(...follow.spans.map((span) => span.since.getTime()));
}

function byFollower(follows: readonly UnsettledFollow[]): Map<UserId, UnsettledFollow[]> {
  const groups = new Map<UserId, UnsettledFollow[]>();
  for (const follow of follows) {
    const group = groups.get(follow.followerId);
    if (group === undefined) groups.set(follow.followerId, [follow]);
    else group.push(follow);
  }
  return groups;
}

function isHeld(action: Action, follows: readonly UnsettledFollow[]): boolean {
  return follows.some(
    (follow) => action.refIds.includes(follow.refId) && anySpanContains(follow.spans, action),
  );
}

async function countFollowers(
  { follows, refs }: SettleFollowsDependencies,
  opened: readonly UnsettledFollow[],
  token: string,
): Promise<void> {
  const added = new Map<string, number>();
  const uncertain = new Set<string>();
  for (const follow of opened) {
    if (follow.token === token) added.set(follow.refId, (added.get(follow.refId) ?? 0) + 1);
    else uncertain.add(follow.refId);
  }
  for (const refId of uncertain) added.delete(refId);
  await refs.addFollowers(added);
  for (const refId of uncertain) await refs.setFollowers(refId, await follows.countFollowers(refId));
}
