import type { UserId } from '../../domain/action.ts';
import type { Member } from '../../domain/member.ts';
import type { Identity } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { ActionsRepository } from '../../storage/actions/actions.ts';
import type { FollowsRepository } from '../../storage/follows/follows.ts';
import type { MemberRecord } from '../../storage/directory/members.ts';
import { requireRole } from '../roles.ts';
import type { FeedState } from '../shapes.ts';
import { validate } from '../validate.ts';
import { clock } from '../../lib/clock.ts';
import type { ReadingDependencies } from '../service-parts.ts';

/**
 * Requests a rebuild of a member's stored feed from the actions. Until it is done the feed is served from the stored entries
 * and reports REBUILDING.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT
 */
export async function rebuildFeed(
  { feeds, workSignal }: ReadingDependencies,
  identity: Identity,
  memberId: UserId,
): Promise<FeedState> {
  requireRole(identity, 'admin');
  await makeDue({ feeds, workSignal }, [validate(idSchema, memberId, ['memberId'])]);
  return 'REBUILDING';
}

/** Requests rebuilds and wakes the workers. One write. */
export async function makeDue(
  { feeds, workSignal }: Pick<ReadingDependencies, 'feeds' | 'workSignal'>,
  userIds: readonly UserId[],
): Promise<void> {
  await feeds.markDue(userIds, clock.now());
  workSignal.notify('rebuild');
}

const AT_ONCE = 1_000;

/** Requests a rebuild for everybody; yields the running total, which may count some twice. @throws FORBIDDEN */
export async function* rebuildFeeds(
  { feeds, readers, workSignal }: ReadingDependencies,
  identity: Identity,
): AsyncGenerator<number, void, undefined> {
  requireRole(identity, 'admin');
  let count = 0;
  for await (const userIds of readers.all(AT_ONCE)) {
    await makeDue({ feeds, workSignal }, userIds);
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
  {
    actions,
    follows,
  }: {
    readonly actions: Pick<ActionsRepository, 'namedAmong'>;
    readonly follows: Pick<FollowsRepository, 'followersAmong'>;
  },
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
