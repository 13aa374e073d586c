import type { Context } from '../../feeds/context.ts';
import type { Action, UserId } from '../../domain/action.ts';
import { reachesFollowers } from '../../domain/audience.ts';
import { profileOfMember, profileOfStranger, type Follow } from '../../domain/viewer.ts';
import { addressedReasons, followableIds } from '../../domain/visibility.ts';
import type { DeliveryReason } from '../../domain/newsfeed-item.ts';
import { compareUtf8 } from '../../lib/compare-utf8.ts';
import type { FormerAudience } from '../../storage/fan-out/fan-out-claim.ts';
import { sourcesOf, type Source } from './audience-sources.ts';

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
 */
export async function* audienceOf(
  dependencies: Context,
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
 * Those of the readers to whom the action is addressed, unordered, including readers who pull it. One query of their
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

/** Those of the readers to whom the action was addressed before edits that no pass has processed yet. */
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
