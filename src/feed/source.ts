import type { Context } from './context.ts';
import {
  type DeliveryReason,
  type FeedEntry,
  type FeedPosition,
  compareFeedPositions,
} from '../domain/newsfeed-item.ts';
import { MAX_FUTURE_MS, type InteractionGroup } from '../domain/relevancy.ts';
import {
  type Candidates,
  type CandidatesQuery,
  kindsOf,
  type SourceAction,
  type SourceKeys,
  type SourceWindow,
} from '../storage/actions/source-actions.ts';
import type { FeedQuery } from './feed-store.ts';
import type { ActionId, UserId } from '../domain/action.ts';
import { type Follow, type ReaderProfile, profileOfMember, profileOfStranger } from '../domain/viewer.ts';
import { positionAbove } from '../domain/cursor.ts';
import { clock } from '../lib/clock.ts';
import { departmentKey, reachesFollowers, teamKey, userKey } from '../domain/audience.ts';
import { eachInTurns, mapInTurns } from '../lib/turn.ts';
import { addressedReasons, blocksAsked, followableIds } from '../domain/visibility.ts';
import { resolveEntries } from './relevancies.ts';

/** Actions that one read returns at most of each kind of keys. */
export const MAX_CANDIDATES = 2_000;
/** And at least, so that few actions that are not the reader's take no further read. */
const MIN_CANDIDATES = 100;
/** Actions of each kind of keys that one read examines at least where not all are wanted; of all kinds together `MAX_CANDIDATES`. */
const MIN_EXAMINED = 250;
const FIRST_MS = 3_600_000;

/**
 * Length of the first window that is read for a feed. When whole feeds are read one after another, each starts with the
 * length that the previous ones needed, so that one read is usually enough.
 */
export class StretchGuess {
  #ms: number;
  #pace: number | null = null;

  /**
   * @param ms of the first window. Default: an hour
   * @param pace milliseconds for each candidate, as was read before. Default: nothing was
   */
  constructor(ms = FIRST_MS, pace: number | null = null) {
    this.#ms = ms;
    this.#pace = pace;
  }

  /** Milliseconds for each candidate, as was read last; `null`: nothing was. */
  get pace(): number | null {
    return this.#pace;
  }

  get ms(): number {
    return this.#ms;
  }

  /** The window had too many actions for one read. */
  wasTooLong(shorter: number): void {
    this.#ms = shorter;
  }

  /** A feed needed this length, which had this many candidates. Only lengths that leave room for twice as many are kept. */
  wasNeeded(ms: number, candidates: number): void {
    if (candidates > 0) this.#pace = ms / candidates;
    if (candidates <= MAX_CANDIDATES / 2) this.#ms = Math.max(this.#ms, ms);
  }
}

/** Actions of a window, with the reader's follows that decide which of them belong in the feed. */
export interface ReadWindow {
  readonly actions: readonly SourceAction[];
  readonly follows: readonly Follow[];
}

/** The reader of the feed, and how actions reach it. */
export interface SourceReader {
  readonly reader: ReaderProfile;
  readonly keys: SourceKeys;
  /** At least the reader's follows of the `followableIds` of these actions. */
  readonly followsOf: (actions: readonly SourceAction[]) => Promise<readonly Follow[]>;
  /** Reads the whole window at once. `null`: it has more than `most` actions. */
  readonly tryFullRead?: (window: SourceWindow, most: number) => Promise<ReadWindow | null>;
  /** Length of the first window, shared by whole feeds that are read one after another. */
  readonly guess?: StretchGuess;
  /** Where the first window ends, which is about all that is asked for. Default, and `null`: by its length. */
  readonly reaches?: Date | null;
  /** Receives the actions of the returned entries. */
  readonly keep?: (actions: readonly SourceAction[]) => void;
}

/** Each window is longer than the previous one by this factor. */
const WINDOW_GROWTH = 8;
/** A window longer than this reaches to the oldest action. */
const LAST_WINDOW_MS = 10 * 365 * 86_400_000;
/** Limit of the speculative full read. If there are more actions, the result is discarded. */
const FULL_READ_LIMIT = 50;

/**
 * Part of a feed, computed from the actions by the definition: at most `limit` entries in feed order; fewer means the end, or that the
 * extent of the query was reached.
 *
 * Reads actions by `latest`, which is at or above every reader's relevancy, in windows that go down and grow until the page
 * is full. Of a window with too many actions it reads the upper end, and goes on below. An entry is final once all unread actions are
 * below it. Actions that were bumped past the start of the page may still belong below it, so they are read first.
 *
 * Each window takes one to three round trips, and one more if the speculative full read is discarded. For a page that does not start at
 * the top, it also reads all actions that were conducted before its start and bumped after it.
 */
export async function readFromSource(
  context: Context,
  source: SourceReader,
  query: FeedQuery,
): Promise<FeedEntry[]> {
  const { reader, keys, followsOf, tryFullRead, keep } = source;
  if (kindsOf(keys) === 0) return [];
  const { after, since, until, limit, wanted } = query;
  const top = earliest(after?.relevancy, until);
  const found = new Map<string, Found>();
  const take = async ({ actions, follows }: ReadWindow): Promise<void> => {
    const read = new Map(actions.map((action) => [action.id, action]));
    for (const entry of await entriesOf(context, { reader, follows }, actions)) {
      const action = read.get(entry.actionId);
      if (action !== undefined) found.set(entry.actionId, { entry, action });
    }
  };
  const look = async (asked: CandidatesQuery): Promise<Candidates> => {
    const candidates = await context.sourceActions.candidates(keys, { ...asked, wanted });
    await take({ ...candidates, follows: await followsOf(candidates.actions) });
    return candidates;
  };
  /** The requested entries above this time, which are final. */
  const certainAbove = (above: Date | null): Found[] =>
    [...found.values()].filter(
      ({ entry }) =>
        (above === null || entry.relevancy.getTime() > above.getTime()) &&
        (after === undefined || compareFeedPositions(entry, after) > 0) &&
        (since === undefined || entry.relevancy.getTime() >= since.getTime()) &&
        (until === undefined || entry.relevancy.getTime() < until.getTime()),
    );
  const give = (certain: readonly Found[]): FeedEntry[] => {
    const given = certain.toSorted((a, b) => compareFeedPositions(a.entry, b.entry)).slice(0, limit);
    keep?.(given.map(({ action }) => action));
    return given.map(({ entry }) => entry);
  };
  // `conducted` may be ahead of a relevancy by this much.
  const upTo = top === null ? null : new Date(top.getTime() + MAX_FUTURE_MS);
  if (upTo !== null)
    await look({ window: { above: upTo, upTo: null, bumpedAndConductedBy: upTo }, most: null });
  if (tryFullRead !== undefined) {
    const above = since === undefined ? null : new Date(since.getTime() - 1);
    const little = await tryFullRead({ above, upTo }, FULL_READ_LIMIT);
    if (little !== null) {
      await take(little);
      return give(certainAbove(above));
    }
  }
  const above = await goDown(source, query, {
    upTo,
    look,
    isEnough: (to) => certainAbove(to).length >= limit,
  });
  return give(certainAbove(above));
}

/** A walk down a feed, window by window. */
interface Descent {
  /** Inclusive; `null`: from the newest. */
  readonly upTo: Date | null;
  readonly look: (asked: CandidatesQuery) => Promise<Candidates>;
  /** Whether what lies above this time is all that is asked for. */
  readonly isEnough: (above: Date) => boolean;
}

/** Reads windows until there is enough, at most to the end or to where the extent stops. Returns how far it read; `null`: to the end. */
async function goDown(
  { keys, guess = new StretchGuess(), reaches = null }: Pick<SourceReader, 'keys' | 'guess' | 'reaches'>,
  { since, limit, wanted, extent }: Omit<FeedQuery, 'after'>,
  descent: Descent,
): Promise<Date | null> {
  const { look, isEnough } = descent;
  // Below a position, what may stand above it is read as well.
  const ahead = descent.upTo === null || guess.pace === null ? 0 : Math.ceil(MAX_FUTURE_MS / guess.pace);
  const most = Math.min(MAX_CANDIDATES, Math.max(MIN_CANDIDATES, 2 * limit + ahead));
  const examined = Math.max(MIN_EXAMINED, Math.floor(MAX_CANDIDATES / kindsOf(keys)));
  let { upTo } = descent;
  const untilThere =
    reaches === null ? null : (upTo?.getTime() ?? clock.time() + MAX_FUTURE_MS) - reaches.getTime();
  let length = untilThere === null ? guess.ms : Math.max(1, untilThere);
  let looked = 0;
  let candidates = 0;
  for (;;) {
    const from = upTo?.getTime() ?? clock.time() + MAX_FUTURE_MS;
    const end = length > LAST_WINDOW_MS ? null : new Date(from - length);
    const read = await look({ window: { above: end, upTo }, most, examined });
    let { above } = read;
    const isCut = above !== null && above.getTime() !== end?.getTime();
    // So many have the same time that the read got no further.
    if (above !== null && isCut && above.getTime() === upTo?.getTime()) {
      above = new Date(above.getTime() - 1);
      await look({ window: { above, upTo }, most: null });
    }
    const passed = above === null ? length : from - above.getTime();
    looked += passed;
    candidates += read.examined;
    if (isCut) guess.wasTooLong(Math.max(1, passed));
    guess.wasNeeded(looked, candidates);
    if (above === null || isEnough(above)) return above;
    if (since !== undefined && above.getTime() < since.getTime()) return above;
    if (wanted !== undefined && extent !== undefined && isCut) {
      extent.stopAt(lowestAbove(above));
      return above;
    }
    upTo = above;
    length = isCut ? Math.max(1, passed) : length * WINDOW_GROWTH;
  }
}

/** An entry, and when its action was conducted. */
export interface ConductedEntry extends FeedEntry {
  readonly conducted: Date;
}

/** Where an action stands by the time at which it was conducted. */
export interface ConductedPosition {
  readonly time: Date;
  readonly actionId: ActionId;
}

/** `since` and `until` are times at which actions were conducted. */
export interface ConductedQuery extends Pick<FeedQuery, 'limit' | 'wanted' | 'extent' | 'since' | 'until'> {
  /** Exclusive; `null`: from the newest on. */
  readonly after: ConductedPosition | null;
}

/**
 * The same part of a feed, the newest actions first, by `conducted`: which no interaction changes, so that each window is final once it
 * was read.
 */
export async function readConducted(
  context: Context,
  source: Omit<SourceReader, 'tryFullRead' | 'keep'>,
  query: ConductedQuery,
): Promise<ConductedEntry[]> {
  const { reader, keys, followsOf } = source;
  const { after, until, limit, wanted } = query;
  if (kindsOf(keys) === 0) return [];
  const found = new Map<ActionId, ConductedEntry>();
  const look = async ({ window, ...limits }: CandidatesQuery): Promise<Candidates> => {
    const asked = { window: { ...window, isOfConducted: true }, wanted, ...limits };
    const candidates = await context.sourceActions.candidates(keys, asked);
    const { actions } = candidates;
    const times = new Map(actions.map(({ id, conducted }) => [id, conducted]));
    const follows = await followsOf(actions);
    for (const entry of await entriesOf(context, { reader, follows }, actions)) {
      const conducted = times.get(entry.actionId) ?? entry.relevancy;
      const placed = { ...entry, conducted };
      if (after === null || compareConducted(placed, { conducted: after.time, actionId: after.actionId }) > 0)
        found.set(entry.actionId, placed);
    }
    return candidates;
  };
  const upTo = earliest(after?.time, until);
  await goDown(source, query, { upTo, look, isEnough: () => found.size >= limit });
  return [...found.values()].sort(compareConducted).slice(0, limit);
}

/** Newest first. */
function compareConducted(
  a: Pick<ConductedEntry, 'conducted' | 'actionId'>,
  b: Pick<ConductedEntry, 'conducted' | 'actionId'>,
): number {
  return (
    b.conducted.getTime() - a.conducted.getTime() ||
    (a.actionId < b.actionId ? 1 : -1) * Number(a.actionId !== b.actionId)
  );
}

/** The position of whatever stands above a time, and above nothing else. */
function lowestAbove(time: Date | null): FeedPosition {
  const { time: relevancy, actionId } = positionAbove({ time: time ?? new Date(0), actionId: LAST_ID });
  return { relevancy, actionId };
}

const LAST_ID = 'f'.repeat(24);

interface Found {
  readonly entry: FeedEntry;
  readonly action: SourceAction;
}

function earliest(a: Date | undefined, b: Date | undefined): Date | null {
  if (a === undefined || b === undefined) return a ?? b ?? null;
  return a.getTime() < b.getTime() ? a : b;
}

/** Everything that decides which actions belong in one reader's feed. */
export interface FeedMembership {
  readonly reader: ReaderProfile;
  /** All of the reader's follows with a span, or at least those of the actions' `followableIds`. */
  readonly follows: readonly Follow[];
}

/** One round trip of two queries; reads all of the reader's follows. */
export async function feedMembershipOf(context: Context, userId: UserId): Promise<FeedMembership> {
  const [membership] = await feedMembershipsOf(context, [userId]);
  return membership ?? { reader: profileOfStranger(userId), follows: [] };
}

/** The same for several readers, in their order. */
export async function feedMembershipsOf(
  context: Context,
  userIds: readonly UserId[],
): Promise<FeedMembership[]> {
  const [found, follows] = await Promise.all([
    context.members.findByIds(userIds),
    context.follows.all(userIds),
  ]);
  const members = new Map(found.map((member) => [member.userId, member]));
  return userIds.map((userId) => {
    const member = members.get(userId);
    return {
      reader: member === undefined ? profileOfStranger(userId) : profileOfMember(member),
      follows: withSpans(follows.get(userId)),
    };
  });
}

export async function followsWithSpans({ follows }: Context, userId: UserId): Promise<readonly Follow[]> {
  return withSpans((await follows.all([userId])).get(userId));
}

function withSpans(follows: readonly Follow[] = []): Follow[] {
  return follows.filter(({ spans }) => spans.length > 0);
}

/** Keys by which actions may reach the reader. */
export function sourceKeys({ reader, follows }: FeedMembership): SourceKeys {
  const { userId, member } = reader;
  return {
    audience: [
      userKey(userId),
      ...(member?.teamId == null ? [] : [teamKey(member.teamId)]),
      ...(member?.departmentId == null ? [] : [departmentKey(member.departmentId)]),
    ],
    refIds: follows.map((follow) => follow.refId),
    pullRefIds: [],
    passerIds: follows.map((follow) => follow.refId),
  };
}

/** Entries for those of the actions that belong in the reader's feed by the definition, regardless of marks. */
export async function entriesOf(
  context: Context,
  { reader, follows }: FeedMembership,
  actions: readonly SourceAction[],
): Promise<FeedEntry[]> {
  await learnBlocks(context, reader, actions, follows);
  const byRef = new Map(follows.map((follow) => [follow.refId, follow]));
  const addressed: { readonly action: SourceAction; readonly reasons: readonly DeliveryReason[] }[] = [];
  await eachInTurns(actions, (action) => {
    if (action.isHidden || action.isDeleted) return;
    // Few of thousands of follows decide.
    const own = followableIds(action).flatMap((refId) => byRef.get(refId) ?? []);
    const reasons = addressedReasons(reader, action, own);
    if (reasons.length > 0) addressed.push({ action, reasons });
  });
  const place = await resolveEntries(
    context,
    addressed.map(({ action }) => action),
    [reader.userId],
    follows.filter(({ isAssigned }) => isAssigned),
  );
  return mapInTurns(addressed, ({ action, reasons }) => place(reader.userId, action, reasons));
}

/** Asks about the blocks that decide. No command for readers whose blocks are all known. */
async function learnBlocks(
  context: Context,
  { userId, blocks }: ReaderProfile,
  actions: readonly SourceAction[],
  follows: readonly Follow[],
): Promise<void> {
  if (blocks.isWhole) return;
  const asked = new Set(actions.flatMap((action) => blocksAsked(action, follows)));
  const unknown = [...asked].filter((id) => id !== userId && !blocks.knows(id));
  if (unknown.length === 0) return;
  const found = await context.blocks.findPairs(unknown.map((otherId) => ({ userId, otherId })));
  const blocked = new Set(found.map(({ otherId }) => otherId));
  for (const id of unknown) blocks.learn(id, blocked.has(id));
}

/** Default limit of actions that are read at once for several feeds. */
const MAX_SHARED = 5_000;
/** Windows that readers begin at about the same time are widened to the same one. */
const SHARED_STEP_MS = 60_000;

/**
 * The context with which several feeds are read one after another: what many of their readers have in common is read once.
 * For feeds to which deliveries are made meanwhile. What changes after that read arrives by its own pass; what is then written
 * too high is found by the revision of its action (`fillFeed`). Interactions are compared with no revision: they only raise.
 *
 * @param most actions that are read at once. If there are more, each feed reads its own.
 */
export function sharedReads(
  context: Context,
  memberships: readonly FeedMembership[],
  most = MAX_SHARED,
): Context {
  if (memberships.length < 2) return context;
  const { interactions, sourceActions } = context;
  const all = unionOf(memberships.map(sourceKeys));
  const windows = new Map<string, Promise<Candidates>>();
  const lifts = new Map<ActionId, readonly InteractionGroup[]>();
  let areTooMany = false;

  async function candidates(keys: SourceKeys, query: CandidatesQuery): Promise<Candidates> {
    const { window } = query;
    if (areTooMany || window.bumpedAndConductedBy !== undefined) return sourceActions.candidates(keys, query);
    const wide = { above: stepped(window.above, Math.floor), upTo: stepped(window.upTo, Math.ceil) };
    const name = JSON.stringify(wide);
    const reading = windows.get(name) ?? sourceActions.candidates(all, { window: wide, most });
    windows.set(name, reading);
    const found = await reading;
    areTooMany ||= found.above?.getTime() !== wide.above?.getTime();
    if (areTooMany) return sourceActions.candidates(keys, query);
    const isFor = mayReach(keys);
    return {
      actions: found.actions.filter((action) => isWithin(action, window) && isFor(action)),
      above: window.above,
      examined: found.examined,
    };
  }

  async function liftsOf(ids: readonly ActionId[]): Promise<Map<ActionId, readonly InteractionGroup[]>> {
    const unknown = ids.filter((id) => !lifts.has(id));
    const found = unknown.length === 0 ? null : await interactions.liftsOf(unknown);
    for (const id of unknown) lifts.set(id, found?.get(id) ?? []);
    const known = ids.map((id) => [id, lifts.get(id) ?? []] as const);
    return new Map(known.filter(([, groups]) => groups.length > 0));
  }

  return {
    ...context,
    sourceActions: { ...sourceActions, candidates },
    interactions: { ...interactions, liftsOf },
  };
}

function unionOf(all: readonly SourceKeys[]): SourceKeys {
  const union = (of: (keys: SourceKeys) => readonly string[]): string[] => [...new Set(all.flatMap(of))];
  return {
    audience: union(({ audience }) => audience),
    refIds: union(({ refIds }) => refIds),
    pullRefIds: union(({ pullRefIds }) => pullRefIds),
    passerIds: union(({ passerIds }) => passerIds),
  };
}

function stepped(time: Date | null, round: (steps: number) => number): Date | null {
  return time === null ? null : new Date(round(time.getTime() / SHARED_STEP_MS) * SHARED_STEP_MS);
}

function isWithin({ latest }: SourceAction, { above, upTo }: SourceWindow): boolean {
  return (above === null || latest > above) && (upTo === null || latest <= upTo);
}

/** The same as what `candidates` of the source asks the database for. */
function mayReach(keys: SourceKeys): (action: SourceAction) => boolean {
  const [audience, refIds, pullRefIds, passerIds] = [
    keys.audience,
    keys.refIds,
    keys.pullRefIds,
    keys.passerIds,
  ].map((ids) => new Set(ids));
  return (action) =>
    action.audience.some((key) => audience?.has(key)) ||
    (reachesFollowers(action) &&
      (action.refIds.some((id) => refIds?.has(id)) || action.pullRefIds.some((id) => pullRefIds?.has(id)))) ||
    (action.scope === 'PUBLIC' && action.reshares.some(({ by }) => passerIds?.has(by)));
}
