import type { Context } from '../feed/context.ts';
import type { Action, UserId, RefId } from '../domain/action.ts';
import { reachesFollowers } from '../domain/audience.ts';
import { profileOfMember, profileOfStranger, type Follow } from '../domain/viewer.ts';
import { addressedReasons, followableIds } from '../domain/visibility.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';
import { compareUtf8 } from '../lib/byte-text.ts';
import type { FormerAudience } from './store/fan-out-claim.ts';
import { anySpanBrings, anySpanBringsPassedOn, type FollowSpan } from '../domain/follow-span.ts';
import type { FollowerPage } from '../features/follow/store/follow-reads.ts';
import type { Member } from '../domain/member.ts';
import type { Group } from '../features/directory/store/members.ts';
import { clock } from '../lib/clock.ts';

interface DormantAfter {
  /** Readers who have not read for this long are dormant. */
  readonly dormantAfterMs: number;
  /** Readers who never read are dormant this long after their first delivery; `null` or absent: never. */
  readonly neverReadAfterMs?: number | null;
}

/** How long "no dormant readers" is cached. Until it is refreshed, some may get needless deliveries. */
const LOOK_EVERY_MS = 10_000;

/** Dormant readers need no delivery; watching counts as reading. Without dormant readers: one query per ten seconds. */
export function dormancy(
  { feeds, liveLog, onLiveLogError }: Context,
  { dormantAfterMs, neverReadAfterMs = null }: DormantAfter,
): (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>> {
  let lookAgainAt = 0;
  const nobody: ReadonlySet<UserId> = new Set();

  async function watching(userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    try {
      return new Set(await liveLog.watched(userIds));
    } catch (error) {
      // They will resync later, and their next query reads from the source.
      onLiveLogError(error);
      return nobody;
    }
  }

  return async (userIds) => {
    const now = clock.time();
    if (neverReadAfterMs !== null) await feeds.noteAwaited(userIds, new Date(now));
    const since = {
      read: new Date(now - dormantAfterMs),
      neverRead: neverReadAfterMs === null ? null : new Date(now - neverReadAfterMs),
    };
    if (performance.now() < lookAgainAt) return nobody;
    if (!(await feeds.hasDormant(since))) {
      lookAgainAt = performance.now() + Math.min(LOOK_EVERY_MS, dormantAfterMs);
      return nobody;
    }
    const watched = await watching(userIds);
    const unwatched = userIds.filter((userId) => !watched.has(userId));
    return new Set(await feeds.skipDormant(unwatched, since));
  };
}

interface SourcePage {
  readonly userIds: readonly UserId[];
  /** Where the source continues; `null`: at its end. */
  readonly next: UserId | null;
}

/** Readers for one reason, in order of id. */
interface Source {
  readonly reason: DeliveryReason;
  /** Whether it was also a source of a former audience. */
  readonly isOf: (audience: FormerAudience, userId: UserId) => boolean;
  read(afterUserId: UserId | null, limit: number): Promise<SourcePage>;
}

function pushedRefs(action: Action): readonly RefId[] {
  return reachesFollowers(action) ? action.refIds.filter((refId) => !action.pullRefIds.includes(refId)) : [];
}

function resharesOf({ scope, reshares }: Action): Action['reshares'] {
  return scope === 'PUBLIC' ? reshares : [];
}

/** Sources of the action's audience. */
function sourcesOf(action: Action, { followers, members }: FirstPages): Source[] {
  const pushed = pushedRefs(action);
  const reshares = resharesOf(action);
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

function groupSources(members: GroupMembers, action: Action): Source[] {
  const kind = action.scope === 'TEAM' ? 'team' : 'department';
  const prefix = `${kind}:`;
  return action.audience
    .filter((key) => key.startsWith(prefix))
    .map((key) => ({
      reason: action.scope === 'TEAM' ? 'TEAM' : 'DEPARTMENT',
      isOf: ({ scope, audience }) => scope === action.scope && audience.includes(key),
      async read(after, limit) {
        const page = await members.read({ kind, id: key.slice(prefix.length) }, after, limit);
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

/** Followers of several refs, each in order of id. The first page of every ref is read once, and usually in one command. */
class Followers {
  readonly #follows: Context['follows'];
  readonly #refIds: readonly RefId[];
  #first: Promise<ReadonlyMap<RefId, FollowerPage>> | null = null;
  readonly #pages = new Map<RefId, Promise<FollowerPage>>();

  constructor(follows: Context['follows'], refIds: readonly RefId[]) {
    this.#follows = follows;
    this.#refIds = [...new Set(refIds)];
  }

  async read(refId: RefId, after: UserId | null, limit: number): Promise<FollowerPage> {
    if (after !== null) return this.#follows.followers(refId, after, limit);
    if (this.#refIds.length > 1) {
      this.#first ??= this.#follows.firstFollowers(this.#refIds, limit);
      const page = (await this.#first).get(refId);
      if (page !== undefined) return page;
    }
    return remembered(this.#pages, refId, () => this.#follows.followers(refId, null, limit));
  }
}

/** Members of groups, in order of id. The first page of each group is read once. */
class GroupMembers {
  readonly #members: Context['members'];
  readonly #pages = new Map<string, Promise<Member[]>>();

  constructor(members: Context['members']) {
    this.#members = members;
  }

  read(group: Group, after: UserId | null, limit: number): Promise<Member[]> {
    const read = (): Promise<Member[]> => this.#members.inGroup(group, after, limit);
    return after === null ? remembered(this.#pages, `${group.kind} ${group.id}`, read) : read();
  }
}

function remembered<T>(values: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const value = values.get(key) ?? read();
  values.set(key, value);
  return value;
}

/** Where audiences begin: what those of several actions have in common is read once. Not to be kept. */
export interface FirstPages {
  readonly followers: Followers;
  readonly members: GroupMembers;
}

export function firstPages({ follows, members }: Context, actions: readonly Action[]): FirstPages {
  const refIds = actions.flatMap((action) => [
    ...pushedRefs(action),
    ...resharesOf(action).map(({ by }) => by),
  ]);
  return { followers: new Followers(follows, refIds), members: new GroupMembers(members) };
}

export interface AudienceMember {
  readonly userId: UserId;
  readonly reasons: readonly DeliveryReason[];
}

/** A member of the audience, with whether one of the ways of addressing existed before a change. */
export interface AudienceReader extends AudienceMember {
  readonly wasReached: boolean;
}

/**
 * Everybody the action is addressed to, without duplicates, in order of user id, in chunks of `chunkSize` (the last may be
 * smaller). All sources (named people, a team or department, followers of every ref and of every resharer) are read
 * concurrently in that order and merged. So a reader reached in several ways is one delivery with several reasons, and a
 * single id describes the progress of a pass.
 *
 * @param options.afterUserId skip readers up to this id; `null`: none.
 * @param options.before a former audience to compare with; `null`: none.
 * @param options.pages shared with the audiences of other actions, of the same `chunkSize`.
 */
export async function* audienceOf(
  dependencies: Context,
  action: Action,
  {
    afterUserId,
    chunkSize,
    before = null,
    pages = firstPages(dependencies, [action]),
  }: {
    readonly afterUserId: UserId | null;
    readonly chunkSize: number;
    readonly before?: FormerAudience | null;
    readonly pages?: FirstPages;
  },
): AsyncGenerator<AudienceReader[], void, undefined> {
  const streams = sourcesOf(action, pages).map((source) => new SourceStream(source, afterUserId, chunkSize));
  let chunk: AudienceReader[] = [];
  for (;;) {
    // Nearly always all of them have their next reader, and nothing is awaited.
    if (streams.some((stream) => stream.isToFill)) await Promise.all(streams.map((stream) => stream.fill()));
    const userId = lowest(streams);
    if (userId === null) break;
    // Most readers are reached in one way: their reasons are the same list.
    let reasons: readonly DeliveryReason[] = [];
    let wasReached = false;
    for (const stream of streams) {
      if (stream.head === userId) {
        if (reasons.length === 0) reasons = stream.reasons;
        else if (!reasons.includes(stream.reason)) reasons = [...reasons, stream.reason];
        wasReached ||= before !== null && stream.isOf(before, userId);
        stream.advance();
      }
    }
    chunk.push({ userId, reasons, wasReached });
    if (chunk.length === chunkSize) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * The readers among these to whom the action is addressed, unordered, including readers who pull it. One query of their
 * follows, or of the members if a team or department is addressed.
 */
export async function audienceAmong(
  { follows, members }: Context,
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

/** The readers among these to whom the action was addressed before edits that no pass has processed yet. */
export async function formerlyAmong(
  dependencies: Context,
  { action, former }: { readonly action: Action; readonly former: readonly FormerAudience[] },
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

/** Members of a chunk to whom the action was not addressed before. One query, for those whom no former way reaches now. */
export async function gainedAmong(
  dependencies: Context,
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
  /** The reason alone. */
  readonly reasons: readonly DeliveryReason[];
  readonly isOf: Source['isOf'];
  readonly #source: Source;
  readonly #limit: number;
  #page: readonly UserId[] = [];
  #at = 0;
  #next: UserId | null;
  #isExhausted = false;

  constructor(source: Source, afterUserId: UserId | null, limit: number) {
    this.reason = source.reason;
    this.reasons = [source.reason];
    this.isOf = source.isOf;
    this.#source = source;
    this.#next = afterUserId;
    this.#limit = limit;
  }

  /** The next reader; `null` when there is none, or none has been fetched. */
  get head(): UserId | null {
    return this.#page[this.#at] ?? null;
  }

  advance(): void {
    this.#at++;
  }

  /** Whether the next reader, if any, must be fetched. */
  get isToFill(): boolean {
    return this.#at >= this.#page.length && !this.#isExhausted;
  }

  async fill(): Promise<void> {
    while (this.isToFill) {
      const page = await this.#source.read(this.#next, this.#limit);
      this.#page = page.userIds;
      this.#at = 0;
      this.#next = page.next;
      this.#isExhausted = page.next === null;
    }
  }
}
