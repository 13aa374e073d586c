import type { Action, UserId } from '../../domain/action.ts';
import { reachesFollowers } from '../../domain/audience.ts';
import { anySpanBrings, anySpanBringsPassedOn, type FollowSpan } from '../../domain/follow-span.ts';
import { profileOfMember, profileOfStranger, type Follow } from '../../domain/viewer.ts';
import { addressedReasons, followableIds } from '../../domain/visibility.ts';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';
import { compareUtf8 } from '../../lib/compare-utf8.ts';
import type { Claim, FormerAudience } from '../../storage/fan-out-claim.ts';
import type { FollowsRepository } from '../../storage/follows.ts';
import type { MembersRepository } from '../../storage/members.ts';

export interface AudienceDependencies {
  readonly follows: Pick<FollowsRepository, 'followers'>;
  readonly members: Pick<MembersRepository, 'inGroup'>;
}

export interface AudienceMember {
  readonly userId: UserId;
  readonly reasons: readonly DeliveryReason[];
}

/** The same, with whether one of the ways by which it is addressed to them was there before a change. */
export interface AudienceReader extends AudienceMember {
  readonly wasReached: boolean;
}

interface SourcePage {
  readonly userIds: readonly UserId[];
  /** Where the source goes on; null: there is no more. */
  readonly next: UserId | null;
}

/** Readers for one reason, in order of id. */
interface Source {
  readonly reason: DeliveryReason;
  /** Whether it was a source of an audience of before. */
  readonly isOf: (audience: FormerAudience, userId: UserId) => boolean;
  read(afterUserId: UserId | null, limit: number): Promise<SourcePage>;
}

/**
 * Everybody the action is addressed to, each once, in order of user id, in chunks of `chunkSize` (the last may be
 * smaller). All sources – people named, a team or department, followers of every ref and of everybody who has passed it
 * on – are read side by side in that
 * one order and merged, so that a reader reached in several ways is one delivery with several reasons, and one id
 * says how far a pass has come.
 *
 * @param options.afterUserId readers up to this id are left out; null: none.
 * @param options.before an audience that it had; null: there is none to compare with.
 */
export async function* audienceOf(
  dependencies: AudienceDependencies,
  action: Action,
  {
    afterUserId,
    chunkSize,
    before = null,
  }: {
    readonly afterUserId: UserId | null;
    readonly chunkSize: number;
    readonly before?: FormerAudience | null;
  },
): AsyncGenerator<AudienceReader[], void, undefined> {
  const streams = sourcesOf(dependencies, action).map(
    (source) => new SourceStream(source, afterUserId, chunkSize),
  );
  let chunk: AudienceReader[] = [];
  for (;;) {
    await Promise.all(streams.map((stream) => stream.fill()));
    const userId = lowest(streams);
    if (userId === null) break;
    const reasons = new Set<DeliveryReason>();
    let wasReached = false;
    for (const stream of streams) {
      if (stream.head === userId) {
        reasons.add(stream.reason);
        wasReached ||= before !== null && stream.isOf(before, userId);
        stream.advance();
      }
    }
    chunk.push({ userId, reasons: [...reasons], wasReached });
    if (chunk.length === chunkSize) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

export interface AudienceAmongDependencies {
  readonly follows: Pick<FollowsRepository, 'findPairs'>;
  readonly members: Pick<MembersRepository, 'findByIds'>;
}

/**
 * Those of the readers the action is addressed to, in no particular order; also who pulls it, which is a reason like the
 * others here. One query of their follows, or of the members where a team or department is addressed.
 */
export async function audienceAmong(
  { follows, members }: AudienceAmongDependencies,
  action: Action,
  userIds: readonly UserId[],
): Promise<AudienceMember[]> {
  const isForGroup = action.scope === 'TEAM' || action.scope === 'DEPARTMENT';
  const followed = followableIds(action);
  const [found, described] = await Promise.all([
    reachesFollowers(action)
      ? follows.findPairs(userIds.flatMap((followerId) => followed.map((refId) => ({ followerId, refId }))))
      : [],
    isForGroup ? members.findByIds(userIds) : [],
  ]);
  const followsOf = new Map<UserId, Follow[]>();
  for (const { followerId, ...follow } of found)
    followsOf.set(followerId, [...(followsOf.get(followerId) ?? []), follow]);
  const profiles = new Map(described.map((member) => [member.userId, profileOfMember(member)]));
  return userIds.flatMap((userId) => {
    const reader = profiles.get(userId) ?? profileOfStranger(userId);
    const reasons = addressedReasons(reader, action, followsOf.get(userId) ?? []);
    return reasons.length === 0 ? [] : [{ userId, reasons }];
  });
}

/** Those of the readers to whom the action was addressed before edits that no pass has followed yet. */
export async function formerlyAmong(
  dependencies: AudienceAmongDependencies,
  { action, former }: Pick<Claim, 'action' | 'former'>,
  userIds: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  const found = new Set<UserId>();
  if (userIds.length > 0)
    for (const audience of former)
      for (const { userId } of await audienceAmong(
        dependencies,
        { ...action, reshares: [], ...audience },
        userIds,
      ))
        found.add(userId);
  return found;
}

/**
 * Those of a chunk to whom the action was not addressed before. One query, of those whom no way of before reaches now:
 * another one may have.
 */
export async function gainedAmong(
  dependencies: AudienceAmongDependencies,
  { action, before }: { readonly action: Action; readonly before: FormerAudience },
  chunk: readonly AudienceReader[],
): Promise<AudienceReader[]> {
  const candidates = chunk.filter(({ wasReached }) => !wasReached);
  if (candidates.length === 0) return [];
  const had = await formerlyAmong(
    dependencies,
    { action, former: [before] },
    candidates.map(({ userId }) => userId),
  );
  return candidates.filter(({ userId }) => !had.has(userId));
}

function lowest(streams: readonly SourceStream[]): UserId | null {
  let low: UserId | null = null;
  for (const { head } of streams)
    if (head !== null && (low === null || compareUtf8(head, low) < 0)) low = head;
  return low;
}

class SourceStream {
  readonly reason: DeliveryReason;
  readonly isOf: Source['isOf'];
  readonly #source: Source;
  readonly #limit: number;
  #page: readonly UserId[] = [];
  #at = 0;
  #next: UserId | null;
  #isExhausted = false;

  constructor(source: Source, afterUserId: UserId | null, limit: number) {
    this.reason = source.reason;
    this.isOf = source.isOf;
    this.#source = source;
    this.#next = afterUserId;
    this.#limit = limit;
  }

  /** The next reader; null when there is none, or none has been fetched. */
  get head(): UserId | null {
    return this.#page[this.#at] ?? null;
  }

  advance(): void {
    this.#at++;
  }

  async fill(): Promise<void> {
    while (this.head === null && !this.#isExhausted) {
      const page = await this.#source.read(this.#next, this.#limit);
      this.#page = page.userIds;
      this.#at = 0;
      this.#next = page.next;
      this.#isExhausted = page.next === null;
    }
  }
}

function sourcesOf({ follows, members }: AudienceDependencies, action: Action): Source[] {
  const sources = [named('MENTION', action.mentions), named('RECIPIENT', action.recipients)];
  if (action.scope === 'TEAM' || action.scope === 'DEPARTMENT')
    sources.push(...groupSources(members, action));
  if (reachesFollowers(action))
    sources.push(
      ...action.refIds
        .filter((refId) => !action.pullRefIds.includes(refId))
        .map((refId) =>
          followerSource(follows, refId, {
            reason: 'FOLLOW',
            isOf: (before) => reachesFollowers(before) && before.refIds.includes(refId),
            isIn: (spans) => anySpanBrings(spans, action),
          }),
        ),
    );
  if (action.scope === 'PUBLIC')
    sources.push(
      ...action.reshares.map(({ by, at }) =>
        followerSource(follows, by, {
          reason: 'RESHARE',
          isOf: ({ scope, reshares = [] }) =>
            scope === 'PUBLIC' &&
            reshares.some((reshare) => reshare.by === by && reshare.at.getTime() === at.getTime()),
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

function groupSources(members: AudienceDependencies['members'], action: Action): Source[] {
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
  follows: AudienceDependencies['follows'],
  refId: string,
  {
    reason,
    isOf,
    isIn,
  }: Pick<Source, 'reason' | 'isOf'> & { readonly isIn: (spans: readonly FollowSpan[]) => boolean },
): Source {
  return {
    reason,
    isOf,
    async read(after, limit) {
      const page = await follows.followers(refId, after, limit);
      return {
        userIds: page.filter((follower) => isIn(follower.spans)).map((follower) => follower.followerId),
        next: page.length < limit ? null : (page.at(-1)?.followerId ?? null),
      };
    },
  };
}
