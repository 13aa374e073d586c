import type { Context } from '../../feeds/context.ts';
import type { Action, RefId, UserId } from '../../domain/action.ts';
import { reachesFollowers } from '../../domain/audience.ts';
import { anySpanBrings, anySpanBringsPassedOn, type FollowSpan } from '../../domain/follow-span.ts';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';
import { compareUtf8 } from '../../lib/compare-utf8.ts';
import type { FormerAudience } from '../../storage/fan-out/fan-out-claim.ts';
import type { FollowerPage } from '../../storage/follows/follow-reads.ts';

interface SourcePage {
  readonly userIds: readonly UserId[];
  /** Where the source continues; `null`: at its end. */
  readonly next: UserId | null;
}

/** Readers for one reason, in order of id. */
export interface Source {
  readonly reason: DeliveryReason;
  /** Whether it was also a source of a former audience. */
  readonly isOf: (audience: FormerAudience, userId: UserId) => boolean;
  read(afterUserId: UserId | null, limit: number): Promise<SourcePage>;
}

/** Sources of the action's audience. The first followers of all its refs are read in one command. */
export function sourcesOf({ follows, members }: Context, action: Action): Source[] {
  const pushed = reachesFollowers(action)
    ? action.refIds.filter((refId) => !action.pullRefIds.includes(refId))
    : [];
  const reshares = action.scope === 'PUBLIC' ? action.reshares : [];
  const followers = new Followers(follows, [...pushed, ...reshares.map(({ by }) => by)]);
  const sources = [named('MENTION', action.mentions), named('RECIPIENT', action.recipients)];
  if (action.scope === 'TEAM' || action.scope === 'DEPARTMENT')
    sources.push(...groupSources(members, action));
  sources.push(
    ...pushed.map((refId) =>
      followerSource(followers, refId, {
        reason: 'FOLLOW',
        isOf: (before) => reachesFollowers(before) && before.refIds.includes(refId),
        isIn: (spans) => anySpanBrings(spans, action),
      }),
    ),
    ...reshares.map(({ by, at }) =>
      followerSource(followers, by, {
        reason: 'RESHARE',
        isOf: ({ scope, reshares: before = [] }) =>
          scope === 'PUBLIC' &&
          before.some((reshare) => reshare.by === by && reshare.at.getTime() === at.getTime()),
        isIn: (spans) => anySpanBringsPassedOn(spans, action, at),
      }),
    ),
  );
  return sources;
}

function named(reason: DeliveryReason, userIds: readonly UserId[]): Source {
  const sorted = [...new Set(userIds)].sort(compareUtf8);
  return {
    reason,
    isOf: ({ mentions, recipients }, userId) => mentions.includes(userId) || recipients.includes(userId),
    read: (after) =>
      Promise.resolve({
        userIds: after === null ? sorted : sorted.filter((userId) => compareUtf8(userId, after) > 0),
        next: null,
      }),
  };
}

function groupSources(members: Context['members'], action: Action): Source[] {
  const kind = action.scope === 'TEAM' ? 'team' : 'department';
  const prefix = `${kind}:`;
  return action.audience
    .filter((key) => key.startsWith(prefix))
    .map((key) => ({
      reason: action.scope === 'TEAM' ? 'TEAM' : 'DEPARTMENT',
      isOf: ({ scope, audience }) => scope === action.scope && audience.includes(key),
      async read(after, limit) {
        const page = await members.inGroup({ kind, id: key.slice(prefix.length) }, after, limit);
        const belongs = page.filter((member) => {
          const since = kind === 'team' ? member.teamSince : member.departmentSince;
          return since !== null && since.getTime() <= action.recorded.getTime();
        });
        return {
          userIds: belongs.map((member) => member.userId),
          next: page.length < limit ? null : (page.at(-1)?.userId ?? null),
        };
      },
    }));
}

function followerSource(
  followers: Followers,
  refId: RefId,
  {
    reason,
    isOf,
    isIn,
  }: {
    readonly reason: DeliveryReason;
    readonly isOf: Source['isOf'];
    readonly isIn: (spans: readonly FollowSpan[]) => boolean;
  },
): Source {
  return {
    reason,
    isOf,
    async read(after, limit) {
      const page = await followers.read(refId, after, limit);
      return {
        userIds: page.followers.filter(({ spans }) => isIn(spans)).map(({ followerId }) => followerId),
        next: page.next,
      };
    },
  };
}

/** Followers of several refs, each in order of id. The first page of every ref is read in one command. */
class Followers {
  readonly #follows: Context['follows'];
  readonly #refIds: readonly RefId[];
  #first: Promise<ReadonlyMap<RefId, FollowerPage>> | null = null;

  constructor(follows: Context['follows'], refIds: readonly RefId[]) {
    this.#follows = follows;
    this.#refIds = [...new Set(refIds)];
  }

  async read(refId: RefId, after: UserId | null, limit: number): Promise<FollowerPage> {
    if (after === null && this.#refIds.length > 1) {
      this.#first ??= this.#follows.firstFollowers(this.#refIds, limit);
      const page = (await this.#first).get(refId);
      if (page !== undefined) return page;
    }
    return this.#follows.followers(refId, after, limit);
  }
}
