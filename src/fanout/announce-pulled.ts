import type { Action, UserId } from '../domain/action.ts';
import type { InteractionGroup } from '../domain/relevancy.ts';
import { addressedReasons, isPulledFor } from '../domain/visibility.ts';
import { profileOfMember, type Follow } from '../domain/viewer.ts';
import { relevancies, type LiftDependencies } from '../feeds/lift.ts';
import type { LiveLog } from '../realtime/live-log.ts';
import type { FollowsRepository } from '../storage/follows.ts';
import { removals, type Announcement } from './announce.ts';

export interface AnnouncePulledDependencies extends LiftDependencies {
  readonly liveLog: Pick<LiveLog, 'allWatched' | 'append'>;
  readonly onLiveLogError: (error: unknown) => void;
  readonly follows: Pick<FollowsRepository, 'findPairs'>;
}

/** Readers looked at in one go. */
const CHUNK = 500;

/**
 * Tells those followers of pulled refs who are watching: nothing was written for them that would tell them. Costs a look
 * through all who watch, and a query per 500 of them.
 */
export async function announcePulled(
  dependencies: AnnouncePulledDependencies,
  action: Action,
  change: {
    readonly kind: 'added' | 'updated' | 'removed';
    readonly interactions: readonly InteractionGroup[];
  },
): Promise<void> {
  if (action.pullRefIds.length === 0) return;
  const { liveLog, onLiveLogError } = dependencies;
  try {
    for await (const watched of liveLog.allWatched())
      for (let from = 0; from < watched.length; from += CHUNK) {
        const some = watched.slice(from, from + CHUNK);
        const announcements = await announcementsFor(dependencies, action, change, some);
        if (announcements.length > 0) await liveLog.append(announcements);
      }
  } catch (error) {
    onLiveLogError(error);
  }
}

async function announcementsFor(
  dependencies: AnnouncePulledDependencies,
  action: Action,
  { kind, interactions }: Parameters<typeof announcePulled>[2],
  watched: readonly UserId[],
): Promise<Announcement[]> {
  const follows = await followsByReader(dependencies, action, watched);
  const concerned = [...follows.keys()].filter((userId) =>
    isPulledFor({ ...profileOfNobody(userId), pulledFollows: follows.get(userId) ?? [] }, action),
  );
  if (concerned.length === 0) return [];
  if (kind === 'removed') return removals(action.id, concerned, new Date());
  const members = new Map(
    (await dependencies.members.findByIds(concerned)).map((member) => [member.userId, member]),
  );
  const relevancyOf = await relevancies(dependencies, action, interactions, concerned);
  return concerned.map((userId) => {
    const member = members.get(userId);
    const reader = member === undefined ? profileOfNobody(userId) : profileOfMember(member);
    const reasons = addressedReasons(reader, action, follows.get(userId) ?? []);
    return { userId, event: { kind, actionId: action.id, relevancy: relevancyOf(userId), reasons } };
  });
}

async function followsByReader(
  { follows }: AnnouncePulledDependencies,
  action: Action,
  userIds: readonly UserId[],
): Promise<Map<UserId, Follow[]>> {
  const pairs = userIds.flatMap((followerId) => action.refIds.map((refId) => ({ followerId, refId })));
  const byReader = new Map<UserId, Follow[]>();
  for (const { followerId, ...follow } of await follows.findPairs(pairs))
    byReader.set(followerId, [...(byReader.get(followerId) ?? []), follow]);
  return byReader;
}

function profileOfNobody(userId: UserId): ReturnType<typeof profileOfMember> {
  return profileOfMember({
    userId,
    name: userId,
    teamId: null,
    teamSince: null,
    departmentId: null,
    departmentSince: null,
    supervisorId: null,
  });
}
