import { noSuchAction } from '../../feed/page/read-actions.ts';
import type { ChangeCore } from '../../core/core.ts';
import type { Action, UserId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import { ON_ITS_WAY_MS, type Interaction } from '../../domain/interaction.ts';
import { INTERACTION_KINDS, NOT_CONCERNED, relevancyFor, type Lifts } from '../../domain/relevancy.ts';
import { surviveLiveLog } from '../../feed/announce.ts';
import {
  concernedReaders,
  feedsLacking,
  hasFewReaders,
  namedBy,
  watchedLately,
  type Concerned,
  type Raising,
  type Risen,
} from '../../feed/store/concerned.ts';
import type { LiveLog } from '../../live/live-log.ts';
import { clock } from '../../lib/clock.ts';
import { gathered } from '../../lib/gathered.ts';
import { mayBeOfOne } from '../../storage/database/errors.ts';
import { onceFor } from '../../lib/once-for.ts';
import type { EngagementChange, ReshareChange } from '../../storage/stages/interaction-stages.ts';
import { announceInteraction } from '../../feed/announce.ts';
import { begunAt, type SettlingToken } from './store/interaction-records.ts';

/** Effect of an interaction in its current state on the reshares of its action. */
function reshareOf({ actorId: by, passedOn: at, state }: Interaction): ReshareChange | null {
  if (at === null) return null;
  return state === 'VISIBLE' ? { kind: 'given', by, at } : { kind: 'taken', by };
}

/** Facts about a change before it is recorded. They may show that it needs no pass. */
export interface ChangeBegun {
  /** Read before. */
  readonly action: Action;
  /** A time before the first write. */
  readonly at: Date;
  /** Departments of the interacting member and of the action's actor. */
  readonly departmentIds: readonly string[];
}

/**
 * Marks the action as changed by an interaction, so that a fan-out pass derives the counts, notifies whom it concerns, and then
 * settles the change. If this is interrupted before, upkeep finds the change. Removed interactions still boost: the recording call
 * may have been interrupted before it marked the action. Two round trips; one more if it may be that no pass is needed.
 * @param interaction as it is now.
 * @param begun absent: a pass is needed.
 * @throws FanfareError NOT_FOUND when the action is gone
 */
export async function settleInteraction(
  core: ChangeCore,
  interaction: Interaction,
  change: EngagementChange,
  settling: SettlingToken,
  begun?: ChangeBegun,
): Promise<Action> {
  const { actionId } = interaction;
  const counted = begun === undefined ? null : await countAlone(core, interaction, change, begun);
  const marked = counted ?? (await mark(core, interaction, change));
  await announceInteraction(core, marked, interaction);
  await core.interactions.settle(actionId, settling);
  // Passes may have left the counts as they were, because this was on its way for so long.
  const isLate = clock.time() - begunAt(settling).getTime() >= ON_ITS_WAY_MS;
  return isLate ? mark(core, interaction, { kind: 'none' }) : marked;
}

async function mark(core: ChangeCore, interaction: Interaction, change: EngagementChange): Promise<Action> {
  const { actionId, at: boost } = interaction;
  const { action, dueAt } = await core.ownWorker.claimBy(async (claim) => {
    const mark = { change, boost, lifts: liftsOf(interaction, change) };
    const reshare = reshareOf(interaction);
    const marked = await core.engagement.markInteraction(
      actionId,
      { ...mark, reshare, now: clock.now() },
      claim,
    );
    if (marked === null) throw noSuchAction();
    return marked;
  });
  // A worker that has claimed it notices the change at the end of its pass.
  if (dueAt === null) return action;
  const isLater = dueAt.getTime() > clock.time();
  if (!isLater || !core.ownWorker.expect(dueAt)) core.workSignal.notify('fan-out');
  return action;
}

/** Upper bound on the difference between the clocks of processes. */
const CLOCK_DIFFERENCE_MS = 2_000;

/** Most feeds that are raised at once for each interaction: with more, passes do so once for all of a moment. */
const MOST_RAISED = 500;

/**
 * Counts the change and raises the action without a pass, if few have it and none of them watches, or nobody watches at all.
 * `null`: a pass is needed, as always if one is pending or has ended since the change began, because that may have counted it
 * already.
 *
 * Nothing is lost: until the change is settled, upkeep finds it. Feeds that get the action before the write are raised after it,
 * and who fills one afterwards finds the interaction, or that the action has changed. Who the readers are, whom the interaction
 * concerns, and whose feed may lack the action, are found after the write; who watches, after feeds are raised. Feeds of those
 * whom it concerns later are rebuilt with it; and an edit of the action makes the write fail.
 */
async function countAlone(
  core: ChangeCore,
  interaction: Interaction,
  change: EngagementChange,
  { action, at, departmentIds }: ChangeBegun,
): Promise<Action | null> {
  const { weights, feedStore } = core;
  const { actorId, kind, at: boost, passedOn } = interaction;
  const liftsAll = weights[kind] < 1;
  const named = namedBy(action);
  const canRaise = feedStore.raise !== undefined && action.fanOut.delivered <= MOST_RAISED;
  const isPending = action.fanOut.state !== 'DONE';
  if (isPending || passedOn !== null || (!canRaise && (liftsAll || named.length > 0))) return null;
  const placeOf = relevancyFor(action, [{ kind, actorId, departmentIds, latest: boost }], weights);
  const isLifted = (userId: UserId): boolean => placeOf({ ...NOT_CONCERNED, userId }) >= boost;
  const isFew = hasFewReaders(action);
  const { watched } = looks(core);
  if (!named.every(isLifted) || watched.has(action.id) || (!isFew && (await isWatched(core, null))))
    return null;
  const before = new Date(at.getTime() - CLOCK_DIFFERENCE_MS);
  const counted = await core.engagement.countInteraction({ action, change, boost, lastPassBefore: before });
  if (counted === null) return null;
  const others = liftsAll ? placeOf(NOT_CONCERNED) : null;
  const { concerned, lacking, isCut, now, readers } = await concernedBy(core, {
    ...{ action, interactions: [{ actorId, departmentIds }], raisedTo: others, withReaders: true },
  });
  // Whether one was counted that has been written again since is not known: the pass it gets counts all.
  if (now === null || (!counted.isCertain && now.rev !== counted.rev)) return null;
  const userIds = [...concerned];
  const isMore = isCut || userIds.length > (canRaise ? MOST_RAISED : 0);
  const isLacking =
    lacking.size > 0 ||
    (userIds.length > 0 && !isMore && (await isLackingIn(core, { action, userIds, raisedTo: boost })));
  if (isMore || isLacking) return mark(core, interaction, { kind: 'none' });
  await Promise.all([
    others === null ? undefined : feedStore.raise?.(action.id, others, {}),
    userIds.length === 0 ? undefined : feedStore.raise?.(action.id, boost, { userIds }),
  ]);
  // A reader who has just begun to watch may have read the feed as it was before.
  if (!(await isWatched(core, isFew ? readers : null))) return now;
  watched.set(action.id, true);
  return mark(core, interaction, { kind: 'none' });
}

/** Interactions that are looked after together, and those whose feeds are: up to `MOST_RAISED` of each. */
const AT_ONCE = 50;
const FEEDS_AT_ONCE = 10;
/** Readers of whom Redis is asked in one command. */
const READERS_AT_ONCE = 1_000;

/** Reads that several calls at the same time share in one command. */
const looks = onceFor((core: ChangeCore) => ({
  concerned: gathered((raisings: readonly Raising[]) => readConcerned(core, raisings), {
    most: AT_ONCE,
    mayBeOfOne,
  }),
  lacking: gathered((all: readonly Risen[]) => feedsLacking(core.collections, all), {
    most: FEEDS_AT_ONCE,
    mayBeOfOne,
  }),
  watchers: gathered((all: readonly Readers[]) => lookForWatchers(core, all), {
    most: READERS_AT_ONCE,
    sizeOf: (readers) => readers?.size ?? 0,
  }),
  /** Actions whose readers watched a moment ago: they get a pass at once. */
  watched: watchedLately(),
}));

const readConcerned = ({ collections }: ChangeCore, raisings: readonly Raising[]) =>
  concernedReaders(collections, raisings, MOST_RAISED + 1);

/** One round trip for calls at the same time; if they find too many together, one more for each. */
async function concernedBy(core: ChangeCore, raising: Raising): Promise<Concerned> {
  const together = (await looks(core).concerned(raising))(raising);
  return together.isCut ? (await readConcerned(core, [raising]))(raising) : together;
}

async function isLackingIn(core: ChangeCore, risen: Risen): Promise<boolean> {
  return (await looks(core).lacking(risen))(risen);
}

/** `null`: anybody. */
type Readers = ReadonlySet<UserId> | null;

/** Whether one of them watches; true if that is not known. */
async function isWatched(core: ChangeCore, readers: Readers): Promise<boolean> {
  return (await looks(core).watchers(readers))(readers);
}

/** A look-up in Redis, and one more if it is asked for anybody. */
async function lookForWatchers(
  { liveLog, onLiveLogError }: ChangeCore,
  all: readonly Readers[],
): Promise<(readers: Readers) => boolean> {
  try {
    const watched = await liveLog.watched([...new Set(all.flatMap((readers) => [...(readers ?? [])]))]);
    const isAnybody = watched.length > 0 || (all.includes(null) && (await isAnybodyThere(liveLog)));
    return (readers) => (readers === null ? isAnybody : watched.some((userId) => readers.has(userId)));
  } catch (error) {
    surviveLiveLog(error, onLiveLogError);
    return () => true;
  }
}

async function isAnybodyThere(liveLog: LiveLog): Promise<boolean> {
  for await (const some of liveLog.allWatched()) if (some.length > 0) return true;
  return false;
}

/** Several comments of a member are removed at once, and of an interrupted change it is not known what else it was. */
function liftsOf({ kind, at }: Interaction, change: EngagementChange): Lifts {
  const isAlone = change.kind === 'given' || (change.kind !== 'derived' && kind !== 'COMMENT');
  return { [kind]: isAlone ? at : new Date(0) };
}

/**
 * Settles an interrupted change, whose effect on the counts is unknown: raises them to what is recorded, with one more round
 * trip. The call may also be under way, so only the pass takes off what is too much.
 */
export async function settleUnknown(
  core: ChangeCore,
  interaction: Interaction,
  settling: SettlingToken,
): Promise<Action> {
  const { actionId } = interaction;
  const summary = (await core.interactions.summaries([actionId])).get(actionId);
  const change: EngagementChange =
    summary === undefined ? { kind: 'none' } : { kind: 'derived', engagement: summary.engagement };
  return settleInteraction(core, interaction, change, settling);
}

/** New counts after removing visible interactions. One round trip when the newest may be among them, otherwise none. */
export async function takenFrom(
  { interactions }: ChangeCore,
  action: Action,
  { kind, reaction, at }: Interaction,
  count: number,
  reactions: readonly string[] = reaction === null ? [] : [reaction],
): Promise<EngagementChange> {
  if (count === 0) return { kind: 'none' };
  const { lastInteraction } = action.engagement;
  const taken = { kind: 'taken', of: kind, reactions, count } as const;
  if (count === 1 && lastInteraction !== null && at.getTime() < lastInteraction.getTime())
    return { ...taken, lastInteraction: null };
  const newest = await interactions.newestOf([action.id], {
    kinds: INTERACTION_KINDS,
    ...{ from: null, isUp: false, limit: 1 },
    withHidden: false,
  });
  const is = newest.get(action.id)?.[0]?.at ?? null;
  return { ...taken, lastInteraction: { was: at, is } };
}

/** Used both for missing and for invisible interactions. */
export function noSuchInteraction(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no such interaction');
}
