import type { FollowInput, MemberInput, PublishActionInput } from '../../src/services/shapes.ts';
import { ratingInput } from './actions.ts';
import type { Trace, TraceAction } from './trace.ts';

export interface ModelsSizes {
  /** Actions of the trace, from its beginning. */
  readonly actions: number;
  /** Members of the trace, with what they follow. */
  readonly people: number;
  /** Further actions that only those whose pages are measured follow. */
  readonly extra: number;
  /** Readers whose pages are measured. */
  readonly readers: number;
  readonly cap: number;
  /** Feeds that hold an action that is bumped and deleted. */
  readonly holders: number;
  /** As `POLL_INTERVAL` has it. */
  readonly poll: string;
}

/** What every model is given, the same for all. */
export interface ModelsLoad {
  readonly people: readonly MemberInput[];
  readonly follows: readonly FollowInput[];
  /** Oldest first, and older than those of the trace. */
  readonly extra: readonly PublishActionInput[];
  /** In the order of the trace. */
  readonly actions: readonly PublishActionInput[];
  /** Those with the longest feeds. */
  readonly readers: readonly string[];
  /** What the model's app is given beside `FEED_MODEL`. */
  readonly env: Readonly<Record<string, string>>;
  readonly cap: number;
}

const EXTRA_REF = 'bench-extra';
export const BUMP_REF = 'bench-bumped';

export function modelsLoad(trace: Trace, sizes: ModelsSizes): ModelsLoad {
  const actions = trace.actions.slice(0, sizes.actions);
  const people = trace.members.slice(0, sizes.people);
  const known = new Set(people.map((member) => member.memberId));
  const follows = trace.follows.filter(({ followerId }) => known.has(followerId));
  const readers = longestFeeds(actions, follows, sizes.readers);
  const holders = people.slice(0, sizes.holders).map((member) => member.memberId);
  if (holders.length < sizes.holders || readers.length < sizes.readers)
    throw new Error('The trace has fewer people than are needed');
  return {
    people,
    follows: [...follows, ...followsOf(EXTRA_REF, readers), ...followsOf(BUMP_REF, holders)],
    extra: extraActions(actions, sizes.extra),
    actions: actions.map(({ conducted, ...action }) => ({ ...action, conducted: new Date(conducted) })),
    readers,
    env: { FEED_CAP: String(sizes.cap), POLL_INTERVAL: sizes.poll },
    cap: sizes.cap,
  };
}

function followsOf(refId: string, readers: readonly string[]): readonly FollowInput[] {
  return readers.map((followerId) => ({ followerId, refId }));
}

/** Those whom most of these actions reach, by id where it is as many. */
function longestFeeds(
  actions: readonly TraceAction[],
  follows: readonly FollowInput[],
  count: number,
): readonly string[] {
  const followers = new Map<string, string[]>();
  for (const { followerId, refId } of follows) {
    const list = followers.get(refId);
    if (list === undefined) followers.set(refId, [followerId]);
    else list.push(followerId);
  }
  const lengths = new Map<string, number>();
  for (const { actorId, refs } of actions) {
    const refIds = [...(refs ?? []).map(({ id }) => id), ...(actorId == null ? [] : [actorId])];
    const readers = new Set(refIds.flatMap((refId) => followers.get(refId) ?? []));
    for (const reader of readers) lengths.set(reader, (lengths.get(reader) ?? 0) + 1);
  }
  return [...lengths]
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, count)
    .map(([reader]) => reader);
}

/** As far apart as those of the trace are on average, and before them. */
function extraActions(actions: readonly TraceAction[], count: number): readonly PublishActionInput[] {
  const times = actions.map(({ conducted }) => Date.parse(conducted));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const apart = Math.max(1_000, (to - from) / times.length);
  return Array.from({ length: count }, (_, index) =>
    ratingInput(index, [{ id: EXTRA_REF }], { conducted: new Date(from - (count - index) * apart) }),
  );
}
