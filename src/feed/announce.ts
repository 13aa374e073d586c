import type { Context } from './context.ts';
import type { ActionId, UserId, Action, RefId } from '../domain/action.ts';
import type { FeedEntry } from '../domain/newsfeed-item.ts';
import {
  LiveLogUnavailable,
  sliceLog,
  threadLog,
  type EntryEvent,
  type InteractionSignal,
  type ListChange,
  type LiveEvent,
} from '../live/live-log.ts';
import { anySpanBrings, anySpanBringsPassedOn } from '../domain/follow-span.ts';
import type { Interaction } from '../domain/interaction.ts';
import { namingKind, notificationKey, type NotificationKind } from '../domain/notification.ts';
import { addressedReasons } from '../domain/visibility.ts';
import type { Follow } from '../domain/viewer.ts';
import { resolveEntries } from './relevancies.ts';
import { feedMembershipOf, type FeedMembership } from './source.ts';
import { namedBy } from '../domain/audience.ts';
import { clock } from '../lib/clock.ts';

/** Upper bound on removals announced individually: the size of a log. With more, the watcher is asked to resync. */
const MOST = 1_000;

/**
 * Notifies watchers of items that left their feed, or lost a reason, because a follow was taken back with its history;
 * covers stored and unstored items. Runs after the follow was changed. Costs one presence check; for a watching reader four
 * more queries, and one for the ref's reshares.
 *
 * @param notified actions they were already notified of
 */
export async function announceTakenBack(
  context: Context,
  userId: UserId,
  { follow, notified }: { readonly follow: Follow; readonly notified: ReadonlySet<ActionId> },
): Promise<void> {
  if (follow.spans.length === 0 || !(await isWatched(context, userId))) return;
  const since = new Date(Math.min(...follow.spans.map((span) => span.since.getTime())));
  const [own, passedOn] = await Promise.all([
    context.actions.newestOfRef(follow.refId, since, MOST + 1),
    passedOnSince(context, follow.refId, since),
  ]);
  if (own.length + passedOn.size > MOST) {
    await resynchronise(context, [userId]);
    return;
  }
  const others = passedOn.size === 0 ? [] : await context.actions.findByIds([...passedOn.keys()]);
  const actions = new Map([...own, ...others].map((action) => [action.id, action]));
  const membership = await feedMembershipOf(context, userId);
  const isPassedOn = (action: Action): boolean => {
    const at = passedOn.get(action.id);
    return at !== undefined && anySpanBringsPassedOn(follow.spans, action, at);
  };
  const changed = [...actions.values()].filter(
    (action) =>
      !notified.has(action.id) &&
      !action.isHidden &&
      !action.isDeleted &&
      (isPassedOn(action)
        ? wasAddressed(membership, action, follow)
        : anySpanBrings(follow.spans, action) && isChanged(membership, action, follow)),
  );
  const place = await resolveEntries(context, changed, [userId]);
  await announce(
    context,
    changed.flatMap((action) => {
      const reasons = addressedReasons(membership.reader, action, membership.follows);
      if (reasons.length === 0) return removals(action.id, [userId], clock.now());
      return [{ userId, event: { kind: 'updated' as const, ...place(userId, action, reasons) } }];
    }),
  );
}

/** Actions the ref has reshared since, with the times; at most slightly more than are announced. They may move down. */
async function passedOnSince(
  { interactions }: Context,
  refId: RefId,
  since: Date,
): Promise<ReadonlyMap<ActionId, Date>> {
  const times = new Map<ActionId, Date>();
  for await (const some of interactions.passedOnBy([refId], since)) {
    for (const { actionId, at } of some) times.set(actionId, at);
    if (times.size > MOST) break;
  }
  return times;
}

function wasAddressed({ reader, follows }: FeedMembership, action: Action, follow: Follow): boolean {
  return addressedReasons(reader, action, [...follows, follow]).length > 0;
}

function isChanged({ reader, follows }: FeedMembership, action: Action, follow: Follow): boolean {
  const now = addressedReasons(reader, action, follows);
  const before = addressedReasons(reader, action, [...follows, follow]);
  return before.length !== now.length;
}

/** Whether somebody watches the feed of this reader. One look-up in Redis. */
export async function isWatched({ liveLog, onLiveLogError }: Context, userId: UserId): Promise<boolean> {
  try {
    return (await liveLog.watched([userId])).length > 0;
  } catch (error) {
    // The log asks the reader to resync as soon as it can be reached.
    onLiveLogError(error);
    return false;
  }
}

export interface Announcement {
  readonly userId: UserId;
  readonly event: LiveEvent;
}

/** Readers who are notified without a query for who of them watches, which takes longer than it saves. */
export const FEW = 100;

/**
 * Notifies watching readers. Called after the feed was written, so that a reader who starts to watch in between finds the
 * change in the feed. A live log that does not answer does not delay deliveries. The only place that appends: a part of the log
 * that does not answer keeps nothing from the readers of the others.
 *
 * @param asksWho false: appends at once, since they are few, or were watching a moment ago. Events for readers who are not
 * watching are discarded.
 * @returns whether all were notified: the others resync as soon as the log answers
 */
export async function announce(
  { liveLog, onLiveLogError }: Context,
  announcements: readonly Announcement[],
  { asksWho = true }: { readonly asksWho?: boolean } = {},
): Promise<boolean> {
  if (announcements.length === 0) return true;
  try {
    if (!asksWho) {
      await liveLog.append(announcements);
      return true;
    }
    const watched = new Set(
      await liveLog.watched([...new Set(announcements.map((announcement) => announcement.userId))]),
    );
    if (watched.size > 0)
      await liveLog.append(announcements.filter((announcement) => watched.has(announcement.userId)));
    return true;
  } catch (error) {
    onLiveLogError(error);
    return false;
  }
}

/**
 * For notifications that also read the database: reports an error of the live log, which asks watchers to resync as soon as
 * it can be reached.
 * @throws any other error: nothing else would notify the watchers
 */
export function surviveLiveLog(error: unknown, onLiveLogError: (error: unknown) => void): void {
  if (!(error instanceof LiveLogUnavailable)) throw error;
  onLiveLogError(error);
}

/**
 * Notifies watching readers that they may have missed something. For interrupted work that is repeated: earlier writes look
 * as if they had always been there and are not announced any more.
 */
export async function resynchronise(
  { liveLog, onLiveLogError }: Context,
  userIds: Iterable<UserId>,
): Promise<void> {
  for (const userId of userIds) await liveLog.forget(userId).catch(onLiveLogError);
}

export function removals(actionId: ActionId, userIds: readonly UserId[], at: Date): Announcement[] {
  const event: EntryEvent = { kind: 'removed', actionId, relevancy: at, reasons: [] };
  return userIds.map((userId) => ({ userId, event }));
}

/** Items of the reader's feed that look different to them now. */
export function updates(userId: UserId, entries: readonly FeedEntry[]): Announcement[] {
  return entries.map((entry) => ({ userId, event: { kind: 'updated', ...entry } }));
}

/** These readers' lists changed in a way that cannot be reported item by item. Called after the change was written. */
export async function announceListChange(
  context: Context,
  userIds: readonly UserId[],
  change: ListChange,
): Promise<void> {
  await announce(
    context,
    userIds.map((userId) => ({ userId, event: { kind: 'list', change } })),
  );
}

const signal = (
  userIds: Iterable<UserId>,
  of: string,
  kinds: readonly NotificationKind[],
): Parameters<typeof announce>[1] =>
  Array.from(userIds, (userId) => ({ userId, event: { kind: 'notification', of, kinds } }));

/**
 * Notifies watchers whom the interaction concerns, those of the thread, and those of slices, which show its counts. Called after it
 * was written. No database command.
 */
export async function announceInteraction(
  context: Context,
  action: Action,
  { id, actionId, actorId, kind, to, state }: Interaction,
): Promise<void> {
  const { actorId: owner } = action;
  const others = new Set(to);
  const owners = others.has(owner) || owner === actorId ? [] : [owner];
  others.delete(actorId);
  await announce(context, [
    ...signal(owners, actionId, [kind]),
    ...signal(others, actionId, ['MENTION', 'REPLY']),
    ...inThreads([{ id, actionId }], state !== 'VISIBLE'),
    ...inSlices(action.refIds, 'updated', action),
  ]);
}

/** Interactions that were changed or removed together with one that is announced on its own, or in bulk. */
export async function announceInThreads(
  context: Context,
  interactions: readonly Pick<Interaction, 'id' | 'actionId'>[],
  isGone: boolean,
): Promise<void> {
  await announce(context, inThreads(interactions, isGone));
}

function inThreads(
  interactions: readonly Pick<Interaction, 'id' | 'actionId'>[],
  isGone: boolean,
): Announcement[] {
  return interactions.map(({ id, actionId }) => {
    const event: InteractionSignal = { kind: 'interaction', actionId, interactionId: id, isGone };
    return { userId: threadLog(actionId), event };
  });
}

/** Slices do not depend on where an action stands in feeds. */
function listEvent(kind: EntryEvent['kind'], { id: actionId, conducted }: ListedAction): EntryEvent {
  return { kind, actionId, relevancy: conducted, reasons: [] };
}

type ListedAction = Pick<Action, 'id' | 'conducted'>;

function inSlices(refIds: Iterable<RefId>, kind: EntryEvent['kind'], action: ListedAction): Announcement[] {
  const event = listEvent(kind, action);
  return Array.from(refIds, (refId) => ({ userId: sliceLog(refId), event }));
}

/** For watchers of slices and of the thread: the action is gone, or may be for some of them. */
export function withdrawnFromLists(action: Action): Announcement[] {
  const ofThread = { userId: threadLog(action.id), event: listEvent('removed', action) };
  return [...inSlices(action.refIds, 'removed', action), ofThread];
}

/**
 * For watchers of slices and of threads: what a pass is about. Interactions are announced when they are recorded. After an edit
 * that may take the action from some, everybody looks whether they still see it.
 */
export function announcementsToLists({ action, former, lifts }: ListedPass): Announcement[] {
  if (lifts !== null) return [];
  if (action.version === 1 && !action.isBumped && former.length === 0)
    return inSlices(action.refIds, 'added', action);
  const kind = former.length === 0 ? 'updated' : 'removed';
  const refIds = new Set([...action.refIds, ...former.flatMap((before) => before.refIds)]);
  return [
    ...inSlices(refIds, kind, action),
    { userId: threadLog(action.id), event: listEvent(kind, action) },
  ];
}

/** A pass, as far as it tells what has changed. */
interface ListedPass {
  readonly action: Action;
  readonly former: readonly { readonly refIds: readonly RefId[] }[];
  /** Other than `null`: only interactions have changed. */
  readonly lifts: object | null;
}

/** An action whose feeds are brought up to date, as far as it tells whom it names. */
interface Naming {
  readonly action: Pick<Action, 'id' | 'actorId' | 'audience'>;
  /** Audiences before edits. */
  readonly former: readonly Pick<Action, 'audience'>[];
  /** Other than `null`: only interactions have changed. */
  readonly lifts: object | null;
}

/**
 * Notifies watchers whom these actions name, or named before an edit. They need not be in the audience, and a feed that keeps only
 * so much may have no place for it.
 */
export async function announceToNamed(context: Context, passes: readonly Naming[]): Promise<void> {
  const signals = passes.flatMap(({ action, former, lifts }) => {
    if (lifts !== null) return [];
    const kinds = new Map<UserId, Set<NotificationKind>>();
    for (const { audience } of [action, ...former])
      for (const [userId, isNotified] of namedBy(audience))
        kinds.set(userId, (kinds.get(userId) ?? new Set()).add(namingKind(isNotified)));
    kinds.delete(action.actorId);
    return Array.from(kinds, ([userId, some]): Announcement => ({
      userId,
      event: { kind: 'notification', of: action.id, kinds: [...some] },
    }));
  });
  await announce(context, signals, { asksWho: signals.length > FEW });
}

/** Notifies watchers among these members that somebody has followed them now; `isOpened` false: does so no more. */
export async function announceFollowers(
  context: Context,
  refIds: readonly RefId[],
  isOpened: boolean,
): Promise<void> {
  const today = notificationKey('FOLLOW', clock.now()).slice('FOLLOW:'.length);
  await announce(context, signal(new Set(refIds), isOpened ? today : '', ['FOLLOW']));
}

/** Notifies the reader's other devices of how far they have read, or of what they are notified. */
export async function announceOwnMarks(context: Context, userId: UserId): Promise<void> {
  await announce(context, signal([userId], '', []));
}
