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
 * Makes a member's stored feed due for a rebuild from the actions themselves; until it is done the feed answers from
 * what is stored and says REBUILDING.
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

/** Makes stored feeds due for a rebuild, and wakes who does it. One write. */
export async function makeDue(
  { feeds, workSignal }: Pick<ReadingDependencies, 'feeds' | 'workSignal'>,
  userIds: readonly UserId[],
): Promise<void> {
  await feeds.markDue(userIds, clock.now());
  workSignal.notify();
}

const AT_ONCE = 1_000;

/** `rebuildFeed` for everybody; gives how many are due so far, some counted twice. @throws FORBIDDEN */
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
 * Those members whose stored feed a change may put in the wrong: their group or supervisor changes, which decides what
 * is addressed to them and how far it is boosted. Who was not known before has no feed yet, unless somebody named them or
 * they follow something.
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
