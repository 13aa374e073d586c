import type { Core } from '../../core/core.ts';
import type { UserId } from '../../domain/action.ts';
import type { Member } from '../../domain/member.ts';
import type { Identity } from '../../domain/viewer.ts';
import { FanfareError } from '../../domain/errors.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { makeDue } from '../../feed/reconcile-feed.ts';
import type { MemberRecord } from '../directory/store/members.ts';
import { requireRole, validate } from '../../core/validate.ts';
import type { FeedState } from '../../core/shapes.ts';

/**
 * Requests a rebuild of a member's stored feed from the actions. Until it is done the feed is served from the stored entries
 * and reports REBUILDING.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT; NOT_FOUND for somebody who can have no feed
 */
export async function rebuildFeed(core: Core, identity: Identity, memberId: UserId): Promise<FeedState> {
  await makeDue(core, [await readerAskedFor(core, identity, memberId)]);
  return 'REBUILDING';
}

/** Whether a rebuild of a member's stored feed is due or under way. @throws like `rebuildFeed` */
export async function readFeedState(core: Core, identity: Identity, memberId: UserId): Promise<FeedState> {
  const userId = await readerAskedFor(core, identity, memberId);
  return (await core.feeds.marks(userId)).isRebuilding ? 'REBUILDING' : 'READY';
}

/** Also somebody whom nobody described, and who has never read: an action that names them is in their feed. */
async function readerAskedFor(
  { actions, readers }: Core,
  identity: Identity,
  memberId: UserId,
): Promise<UserId> {
  requireRole(identity, 'admin');
  const userId = validate(idSchema, memberId, ['memberId']);
  if (!(await readers.knows(userId)) && (await actions.namedAmong([userId])).length === 0)
    throw new FanfareError('NOT_FOUND', 'Nothing is known of such a member');
  return userId;
}

const AT_ONCE = 1_000;

/** Requests a rebuild for everybody; yields the running total, which may count some twice. @throws FORBIDDEN */
export async function* rebuildFeeds(core: Core, identity: Identity): AsyncGenerator<number, void, undefined> {
  requireRole(identity, 'admin');
  let count = 0;
  for await (const userIds of core.readers.all(AT_ONCE)) {
    await makeDue(core, userIds);
    count += userIds.length;
    yield count;
  }
}

/**
 * Members whose stored feed may become wrong through a change of their group or supervisor, which affects what is addressed
 * to them and how much it is boosted. A new member has no feed yet, unless actions already named them or they follow
 * something.
 */
export async function feedsInDoubt(
  { actions, follows }: Core,
  changes: readonly MemberRecord[],
  before: readonly Member[],
): Promise<UserId[]> {
  const known = new Map(before.map((member) => [member.userId, member]));
  const moved = changes.filter((change) => {
    const member = known.get(change.userId);
    return member !== undefined && isMoved(member, change);
  });
  const strangers = changes.filter(({ userId }) => !known.has(userId)).map(({ userId }) => userId);
  const [named, following] =
    strangers.length === 0
      ? [[], []]
      : await Promise.all([actions.namedAmong(strangers), follows.followersAmong(strangers)]);
  return [...new Set([...moved.map(({ userId }) => userId), ...named, ...following])];
}

function isMoved(member: Member, change: MemberRecord): boolean {
  return (
    member.teamId !== change.teamId ||
    member.departmentId !== change.departmentId ||
    member.supervisorId !== change.supervisorId
  );
}
