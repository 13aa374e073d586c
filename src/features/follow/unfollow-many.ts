import { newObjectId } from '../../storage/database/mongo.ts';
import type { Core } from '../core.ts';
import { z } from 'zod';
import type { RefId, UserId } from '../../domain/action.ts';
import type { Identity } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { clock } from '../../lib/clock.ts';
import { announceListChange } from '../../feed/announce.ts';
import { countFollowers } from './store/count-followers.ts';
import type { ClosingTokens, UnsettledFollow } from './store/follows.ts';
import { checkCount } from '../directory/directory.ts';
import { requireRole, validate } from '../validate.ts';
import type { FollowPairInput } from '../shapes.ts';

/**
 * Ends follows on behalf of members. The write that ends them is the commit point; it leaves marks that let a retry or
 * upkeep complete the remaining steps. Without history, items that came only through these follows disappear from feeds at
 * once by the rules, and from stored feeds by a rebuild; watchers are asked to query the feed again. Pairs that are not
 * followed are ignored.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT
 */
export async function unfollowMany(
  core: Core,
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
  const { followEnds, followerCounts } = core;
  const tokens = { closed: newObjectId(), dropped: newObjectId() };
  // Set before the spans are removed: it makes reads check delivered entries, including late ones, against the follows.
  const [epochs] = await Promise.all([
    followerCounts.epochs([...new Set(pairs.map(({ refId }) => refId))]),
    keepHistory
      ? null
      : followEnds.markChecksFollows([...new Set(pairs.map(({ followerId }) => followerId))]),
  ]);
  await followEnds.close(pairs, { now: clock.now(), keepHistory, tokens });
  const ended = await core.follows.unsettled(pairs);
  if (ended.length === 0) return inputs.length;
  await bringFeedsInLine(core, ended, { keepHistory, tokens });
  await countFollowers(core, { ...changesOf(ended, tokens), epochs });
  await followEnds.forget(ended);
  return inputs.length;
}

/** For follows left behind by another call it is unknown whether they were counted. */
function changesOf(ended: readonly UnsettledFollow[], tokens: ClosingTokens) {
  const added = new Map<RefId, number>();
  const uncertain: RefId[] = [];
  for (const { refId, token } of ended)
    if (token === tokens.closed) added.set(refId, (added.get(refId) ?? 0) - 1);
    else if (token !== tokens.dropped) uncertain.push(refId);
  return { added, uncertain };
}

/** Even with history kept, items boosted by an assignment move down, and an interrupted follow may lack items. */
async function bringFeedsInLine(
  core: Core,
  ended: readonly UnsettledFollow[],
  { keepHistory, tokens }: { readonly keepHistory: boolean; readonly tokens: ClosingTokens },
): Promise<void> {
  const isForeign = ({ token }: UnsettledFollow): boolean =>
    token !== tokens.closed && token !== tokens.dropped;
  const notified = readersOf(keepHistory ? ended.filter(({ isAssigned }) => isAssigned) : ended);
  const notNotified = readersOf(keepHistory ? ended.filter(isForeign) : []);
  if (notified.length + notNotified.length === 0) return;
  await announceListChange(core, notified, 'membership');
  await core.feeds.markDue(notified, clock.now(), { isNotified: true });
  await core.feeds.markDue(notNotified, clock.now(), { isNotified: false });
  core.workSignal.notify('rebuild');
}

function readersOf(follows: readonly UnsettledFollow[]): UserId[] {
  return [...new Set(follows.map(({ followerId }) => followerId))];
}
