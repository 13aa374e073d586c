import { z } from 'zod';
import type { RefId, UserId } from '../../domain/action.ts';
import type { Identity } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { clock } from '../../lib/clock.ts';
import { announceListChange } from '../../realtime/announce.ts';
import { countFollowers } from '../../storage/follows/count-followers.ts';
import type { ClosingTokens } from '../../storage/follows/follow-ends.ts';
import type { UnsettledFollow } from '../../storage/follows/follows.ts';
import { checkCount } from '../members/directory.ts';
import { requireRole } from '../roles.ts';
import type { FollowPairInput } from '../shapes.ts';
import { validate } from '../validate.ts';
import type { FollowDependencies } from '../service-parts.ts';

/**
 * Ends follows on behalf of members. The write that ends them is the commit point; the marks it leaves let a retry, or
 * upkeep, complete what follows. Without history what came only through them is gone from feeds at once, by the rules,
 * and from the stored feeds by a rebuild; who watches is asked to query the feed again. Pairs that are not followed
 * change nothing.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT
 */
export async function unfollowMany(
  dependencies: FollowDependencies,
  identity: Identity,
  inputs: readonly FollowPairInput[],
  keepHistory: boolean,
): Promise<number> {
  requireRole(identity, 'service');
  const given = validate(
    z.array(z.strictObject({ followerId: idSchema, refId: idSchema })),
    checkCount(inputs, 'pairs').map((pair) => ({ ...pair })),
    ['pairs'],
  );
  const pairs = [
    ...new Map(given.map((pair) => [JSON.stringify([pair.followerId, pair.refId]), pair])).values(),
  ];
  if (pairs.length === 0) return inputs.length;
  const { followEnds, followerCounts, newToken } = dependencies;
  const tokens = { closed: newToken(), dropped: newToken() };
  // Before the spans go: from then on entries delivered for a follow are checked against it, late ones included.
  const [epochs] = await Promise.all([
    followerCounts.epochs([...new Set(pairs.map(({ refId }) => refId))]),
    keepHistory
      ? null
      : followEnds.markChecksFollows([...new Set(pairs.map(({ followerId }) => followerId))]),
  ]);
  await followEnds.close(pairs, { now: clock.now(), keepHistory, tokens });
  const ended = await dependencies.follows.unsettled(pairs);
  if (ended.length === 0) return inputs.length;
  await bringFeedsInLine(dependencies, ended, { keepHistory, tokens });
  await countFollowers(dependencies, { ...changesOf(ended, tokens), epochs });
  await followEnds.forget(ended);
  return inputs.length;
}

/** Of a follow that another call left behind nobody knows whether it was counted. */
function changesOf(ended: readonly UnsettledFollow[], tokens: ClosingTokens) {
  const added = new Map<RefId, number>();
  const uncertain: RefId[] = [];
  for (const { refId, token } of ended)
    if (token === tokens.closed) added.set(refId, (added.get(refId) ?? 0) - 1);
    else if (token !== tokens.dropped) uncertain.push(refId);
  return { added, uncertain };
}

/** With the history kept, what was lifted as assigned stands lower, and what another call was cut off in may be missing. */
async function bringFeedsInLine(
  dependencies: FollowDependencies,
  ended: readonly UnsettledFollow[],
  { keepHistory, tokens }: { readonly keepHistory: boolean; readonly tokens: ClosingTokens },
): Promise<void> {
  const isForeign = ({ token }: UnsettledFollow): boolean =>
    token !== tokens.closed && token !== tokens.dropped;
  const notified = readersOf(keepHistory ? ended.filter(({ isAssigned }) => isAssigned) : ended);
  const notNotified = readersOf(keepHistory ? ended.filter(isForeign) : []);
  if (notified.length + notNotified.length === 0) return;
  await announceListChange(dependencies, notified, 'membership');
  await dependencies.feeds.markDue(notified, clock.now(), { isNotified: true });
  await dependencies.feeds.markDue(notNotified, clock.now(), { isNotified: false });
  dependencies.workSignal.notify();
}

function readersOf(follows: readonly UnsettledFollow[]): UserId[] {
  return [...new Set(follows.map(({ followerId }) => followerId))];
}
