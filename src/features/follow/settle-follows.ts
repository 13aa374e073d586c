import type { Core } from '../../core/core.ts';
import type { Action, ActionId, UserId } from '../../domain/action.ts';
import type { Ref } from '../../domain/member.ts';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';
import { anySpanBrings, anySpanBringsPassedOn } from '../../domain/follow-span.ts';
import { profileOfStranger, type Follow } from '../../domain/viewer.ts';
import { passedOnBy } from '../../domain/visibility.ts';
import { clock } from '../../lib/clock.ts';
import { groupsOf } from '../../lib/groups-of.ts';
import { once } from '../../lib/once.ts';
import type { BlockId } from '../../storage/documents/block-document.ts';
import { endBlockedFollow } from './unfollow.ts';
import type { CachedAction } from '../../storage/actions/actions.ts';
import { announceListChange, resynchronise } from '../../feed/announce.ts';
import { entriesOf, feedMembershipOf } from '../../feed/source.ts';
import { asStored, fillFeed } from '../../feed/reconcile-feed.ts';
import type { PassedOn } from '../interactions/store/interactions.ts';
import type { CountEpochs } from './store/follower-counts.ts';
import type { OpeningTokens, UnsettledFollow } from './store/follows.ts';
import { countFollowers } from './store/count-followers.ts';
import { resolveEntries } from '../../feed/relevancies.ts';

const FILL_CHUNK = 1_000;

export interface FollowsBegun {
  readonly tokens: OpeningTokens;
  /** Read before the follows were written. */
  readonly epochs: CountEpochs;
  /** Actions that the spans may bring: those that the process has cached are filled in without another transfer. */
  readonly newest?: readonly CachedAction[];
  /** Default: blocks between the pairs matter. */
  readonly withBlocks?: boolean;
}

/**
 * Fills the feeds with actions that the open spans already contain: copied history, and actions whose fan-out read the
 * followers just before. Then counts the followers.
 *
 * @param own the call that is settling. For refs of follows that another call left behind, followers are recounted from scratch,
 *   since its progress is unknown.
 * @returns the ref with its count if one follower of one ref was added; otherwise `null`
 */
export async function settleFollows(
  core: Core,
  opened: readonly UnsettledFollow[],
  own: FollowsBegun,
): Promise<Ref | null> {
  if (opened.length === 0) return null;
  const { tokens, epochs, newest = [], withBlocks = true } = own;
  const foreign = opened.filter(({ token }) => !Object.values(tokens).includes(token));
  const blocked = await fillFeeds(core, opened, { newest, withBlocks });
  await resynchronise(core, byFollower(foreign).keys());
  await bringInLine(
    core,
    opened.filter(
      ({ token, isAssigned }) => token === tokens.changed || (token === tokens.opened && isAssigned === true),
    ),
    foreign,
  );
  const added = new Map<string, number>();
  for (const { refId, token } of opened)
    if (token === tokens.opened) added.set(refId, (added.get(refId) ?? 0) + 1);
  const uncertain = foreign.map(({ refId }) => refId);
  const ref = await countFollowers(core, { added, uncertain, epochs });
  // A block that has begun since it was asked about may have looked for them too early. Before they are settled: if this is
  // interrupted, upkeep looks for blocks.
  for (const { userId, otherId } of blocked)
    await endBlockedFollow(core, { followerId: userId, refId: otherId });
  await core.follows.settle(opened, tokens);
  return ref;
}

/**
 * Changed options move items, and a fill never lowers an item: so the feeds are rebuilt, as after a change of department.
 * For follows left behind by another call it is unknown whether options changed, so they are treated alike.
 */
async function bringInLine(
  core: Core,
  changed: readonly UnsettledFollow[],
  foreign: readonly UnsettledFollow[],
): Promise<void> {
  const notified = [...byFollower(changed).keys()];
  await announceListChange(core, notified, 'membership');
  const readers = [...new Set([...notified, ...byFollower(foreign).keys()])];
  if (readers.length === 0) return;
  await core.feedRebuilds.markDue(readers, clock.now(), { isNotified: true });
  core.workSignal.notify('rebuild');
}

async function fillFeeds(
  core: Core,
  opened: readonly UnsettledFollow[],
  { newest, withBlocks }: Required<Pick<FollowsBegun, 'newest' | 'withBlocks'>>,
): Promise<readonly BlockId[]> {
  const since = Math.min(...opened.map((follow) => openSince(follow)));
  // All spans have been closed meanwhile.
  if (since === Infinity) return [];
  const refIds = refIdsOf(opened);
  const cached = newest.flatMap(({ id, rev }) => core.actionCache.at(id, rev) ?? []);
  const pairs = opened.map(({ followerId, refId }) => ({ userId: followerId, otherId: refId }));
  const read = once(() =>
    core.followStarts.broughtSince(refIds, new Date(since), typesOf(opened), withBlocks ? pairs : [], cached),
  );
  // The same read tells which of them are as they were, and what else there is.
  await fillOwn(core, opened, cached, async () => (await read()).revisions);
  const { own, passedOn, blocked } = await read();
  core.actionCache.keep(own);
  await fillOwn(core, opened, own);
  if (passedOn !== null) await fillPassedOn(core, opened, passedOn);
  else
    for await (const some of core.interactions.passedOnBy(refIds, new Date(since)))
      await fillPassedOn(core, opened, some);
  return blocked;
}

/** Fills the feeds with actions that have the refs. @param revisions reads those of visible actions, as far as it finds them */
async function fillOwn(
  core: Core,
  opened: readonly UnsettledFollow[],
  actions: readonly Action[],
  revisions?: () => Promise<ReadonlyMap<ActionId, number>>,
): Promise<void> {
  if (actions.length === 0) return;
  const groups = byFollower(opened);
  const passers = new Set(
    actions.flatMap(({ scope, reshares }) => (scope === 'PUBLIC' ? reshares.map(({ by }) => by) : [])),
  );
  const [place, ofPassers] = await Promise.all([
    resolveEntries(core, actions, [...groups.keys()]),
    core.follows.amongPassers([...groups.keys()], [...passers]),
  ]);
  for (const [userId, follows] of groups) {
    const followed = ofPassers.get(userId) ?? [];
    const entries = actions.flatMap((action) =>
      isHeld(action, follows) ? [place(userId, action, reasonsFor(userId, action, followed))] : [],
    );
    for (let at = 0; at < entries.length; at += FILL_CHUNK)
      await fillFeed(core, userId, entries.slice(at, at + FILL_CHUNK), {
        notifiesOfStored: true,
        revisions,
      });
  }
}

/** Fills in actions reshared by the followed members, or bumps them. */
async function fillPassedOn(
  core: Core,
  opened: readonly UnsettledFollow[],
  some: readonly PassedOn[],
): Promise<void> {
  if (some.length === 0) return;
  const found = await core.actions.findByIds([...new Set(some.map(({ actionId }) => actionId))]);
  const byAction = new Map<ActionId, PassedOn[]>();
  for (const one of some) byAction.set(one.actionId, [...(byAction.get(one.actionId) ?? []), one]);
  const isPassedOn = (action: Action, { refId, spans }: UnsettledFollow): boolean =>
    (byAction.get(action.id) ?? []).some(
      ({ by, at }) => refId === by && anySpanBringsPassedOn(spans, action, at),
    );
  for (const [userId, follows] of byFollower(opened)) {
    const passedOn = found.filter((action) => follows.some((follow) => isPassedOn(action, follow)));
    if (passedOn.length === 0) continue;
    const membership = await feedMembershipOf(core, userId);
    const entries = await entriesOf(core, membership, passedOn);
    await fillFeed(core, userId, asStored(entries), { notifiesOfStored: true });
  }
}

/** Types taken by at least one of the open spans; `null`: all types. */
function typesOf(follows: readonly UnsettledFollow[]): string[] | null {
  const types = new Set<string>();
  for (const { spans } of follows)
    for (const span of spans) {
      if (span.until !== undefined) continue;
      if (span.types === undefined) return null;
      for (const type of span.types) types.add(type);
    }
  return [...types];
}

function refIdsOf(follows: readonly UnsettledFollow[]): string[] {
  return [...new Set(follows.map(({ refId }) => refId))];
}

/** All reasons for an action. @param followed the reader's follows of the resharers. */
function reasonsFor(userId: UserId, action: Action, followed: readonly Follow[]): DeliveryReason[] {
  const isPassedOn = passedOnBy(profileOfStranger(userId), action, followed).length > 0;
  return [
    ...(action.mentions.includes(userId) ? (['MENTION'] as const) : []),
    'FOLLOW',
    ...(isPassedOn ? (['RESHARE'] as const) : []),
  ];
}

/** Start of the open span, which may overlap ended ones. Infinity: no span is open. */
function openSince({ spans }: UnsettledFollow): number {
  const open = spans.filter((span) => span.until === undefined);
  return Math.min(...open.map((span) => span.since.getTime()));
}

function byFollower(follows: readonly UnsettledFollow[]) {
  return groupsOf(follows, ({ followerId }) => followerId);
}

function isHeld(action: Action, follows: readonly UnsettledFollow[]): boolean {
  return follows.some(
    (follow) => action.refIds.includes(follow.refId) && anySpanBrings(follow.spans, action),
  );
}
