import type { Context } from '../../../feed/context.ts';
import { PULL_NOTICE_MS } from '../../../feed/store/pulled-refs.ts';
import type { Job, JobSetup } from '../../../jobs/job.ts';
import { trimDue } from '../../../feed/trim-feeds.ts';
import { clock } from '../../../lib/clock.ts';
import { countFollowers } from '../../follow/store/count-followers.ts';
import type { ActionId, UserId } from '../../../domain/action.ts';
import { ABANDONED_AFTER_MS } from '../../../domain/interaction.ts';

interface DropAfter {
  /** Inactivity after which a stored feed is dropped; `null`: never. */
  readonly dropAfterMs: number | null;
  /** The same for readers who never read, counted from their first delivery; `null`: never. */
  readonly neverReadAfterMs: number | null;
}

/** Small enough to be finished long before the lease, which begins with the batch, expires. */
const BATCH = 20;
/** How long a process that dies blocks rebuilds of a batch's feeds. */
const LEASE_MS = 30_000;

/**
 * Drops the stored feeds of readers who have not read for long. Marks them first: from then on stored entries are not
 * trusted, and a returning reader is served from the actions until a rebuild, which waits for this to end. Watching counts
 * as reading.
 * @param now read again for every batch: there may be so many that they take longer than a lease
 * @returns the number of dropped feeds
 * @throws the first error of a drop. The others are dropped nevertheless, unless all of a batch fail
 */
export async function dropDormant(
  { feeds, feedStore, liveLog }: Context,
  { dropAfterMs, neverReadAfterMs }: DropAfter,
  now: () => Date,
  isToStop: () => boolean,
): Promise<number> {
  const startedAt = now().getTime();
  const before = (ms: number | null): Date | null => (ms === null ? null : new Date(startedAt - ms));
  const since = { read: before(dropAfterMs), neverRead: before(neverReadAfterMs) };
  let dropped = 0;
  let after: UserId | null = null;
  const failures: unknown[] = [];
  while (!isToStop()) {
    const found: UserId[] = await feeds.unread(since, after, BATCH);
    if (found.length === 0) break;
    after = found.at(-1) ?? null;
    const watched = new Set(await liveLog.watched(found));
    const unwatched = found.filter((userId) => !watched.has(userId));
    const begunAt = now();
    const until = new Date(begunAt.getTime() + LEASE_MS);
    const begun = await feeds.beginDrop(unwatched, since, { now: begunAt, until });
    const done: UserId[] = [];
    for (const userId of begun) {
      // From then on a rebuild may fill the feed again. The next round drops it, if it is still unread.
      if (now() >= until) break;
      try {
        await feedStore.drop(userId);
        done.push(userId);
      } catch (error) {
        failures.push(error);
      }
    }
    await feeds.finishDrop(done, until);
    dropped += done.length;
    if (failures.length > 0 && done.length === 0) break;
  }
  if (failures.length > 0) throw failures[0];
  return dropped;
}

const AT_ONCE = 200;

/**
 * Completes interrupted follows and unfollows that nobody repeats. Their progress is unknown, so a rebuild of the feed is
 * requested, which also asks watchers to query it again, followers are recounted from scratch, and follows beside a block end. Safe to
 * interrupt, and to run in several processes at once.
 */
async function settleAbandonedFollows(
  context: Context,
  endBlockedFollow: JobSetup['endBlockedFollow'],
  now: Date,
): Promise<void> {
  const { blocks, feedRebuilds, follows } = context;
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  for (;;) {
    const abandoned = await follows.unsettledBefore(before, AT_ONCE);
    if (abandoned.length === 0) return;
    const followers = new Set(abandoned.map(({ followerId }) => followerId));
    const refIds = new Set(abandoned.map(({ refId }) => refId));
    // First, so that the rebuild is certain whatever happens to this round.
    await feedRebuilds.markDue([...followers], clock.now(), { isNotified: false });
    await countFollowers(context, { added: new Map(), uncertain: refIds, epochs: new Map() });
    // A block that began meanwhile may have looked for them too early.
    const pairs = abandoned.map(({ followerId: userId, refId: otherId }) => ({ userId, otherId }));
    for (const { userId, otherId } of await blocks.findPairs(pairs))
      await endBlockedFollow({ followerId: userId, refId: otherId });
    for (const { followerId, refId, token } of abandoned) await follows.forget({ followerId, refId }, token);
    if (abandoned.length < AT_ONCE) return;
  }
}

/**
 * A process that was killed before it reached the live log again knew of events that are missing, and nobody else does: all
 * watchers query again. One command if there is none.
 */
async function announceGaps({ processes, liveLog }: Context, now: Date): Promise<void> {
  const left: string[] = [];
  for (;;) {
    const id = await processes.takeGap(now);
    if (id === null) break;
    left.push(id);
  }
  if (left.length === 0) return;
  await liveLog.interrupt();
  for (const id of left) await processes.gone(id);
}

const EVERY_MS = 5_000;
const LOOK_FOR_GAPS_EVERY_MS = 30_000;
const DROP_EVERY_MS = 3_600_000;

/**
 * Maintains feeds beside deliveries: decides which refs are pulled, completes interrupted follows and interactions, and lets
 * the store delete entries below the floors and feeds that nobody reads, and announces what killed processes left unannounced. All of it is idempotent.
 */
export function upkeep({ core, config, carryOutRulings, endBlockedFollow }: JobSetup): Job {
  const { celebrityThreshold } = config.feeds;
  let [dropAt, lookForGapsAt] = [0, 0];
  return {
    name: 'upkeep',
    every: EVERY_MS,
    async run({ now, signal, apart }) {
      const startedAt = performance.now();
      await apart(() => settleAbandonedFollows(core, endBlockedFollow, now));
      await apart(() => settleAbandonedInteractions(core, now));
      await apart(() => carryOutRulings(now));
      await apart(() => core.refs.choosePulled(celebrityThreshold, new Date(now.getTime() + PULL_NOTICE_MS)));
      await apart(async () => {
        while (!signal.aborted && (await trimDue(core, now)) > 0);
      });
      if (performance.now() >= lookForGapsAt && (await apart(() => announceGaps(core, now))))
        lookForGapsAt = performance.now() + LOOK_FOR_GAPS_EVERY_MS;
      if (performance.now() < dropAt) return false;
      const nowOf = (): Date => new Date(now.getTime() + performance.now() - startedAt);
      if (await apart(() => dropDormant(core, config.feeds, nowOf, () => signal.aborted)))
        dropAt = performance.now() + DROP_EVERY_MS;
      return false;
    },
  };
}

/**
 * Completes changes of interactions that were interrupted before their action was marked, and that nobody repeats: recounts
 * the action's interactions and requests a pass, which applies the boosts. Safe to interrupt, and to run in several
 * processes at once.
 *
 * @throws the first error. What belongs to other actions is completed nevertheless
 */
export async function settleAbandonedInteractions(
  { engagement, interactions }: Context,
  now: Date,
): Promise<void> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  const failures = new Map<ActionId, unknown>();
  for (;;) {
    const abandoned = await interactions.unsettledBefore(before, AT_ONCE);
    const open = abandoned.filter(({ interaction }) => !failures.has(interaction.actionId));
    if (open.length === 0) break;
    const actionIds = [...new Set(open.map(({ interaction }) => interaction.actionId))];
    const summaries = await interactions.summaries(actionIds);
    for (const actionId of actionIds) {
      const summary = summaries.get(actionId);
      if (summary === undefined) continue;
      const change = { kind: 'derived', engagement: summary.engagement } as const;
      try {
        const marked = await engagement.markInteraction(
          actionId,
          { change, boost: summary.latest, now },
          null,
        );
        // A deleted action may have been purged before the interaction was recorded.
        if (marked === null) await interactions.purgeAction(actionId);
      } catch (error) {
        failures.set(actionId, error);
      }
    }
    for (const { interaction, settling } of open) {
      if (failures.has(interaction.actionId)) continue;
      await interactions.logModeration(interaction);
      await interactions.settle(interaction.actionId, settling);
    }
    if (abandoned.length < AT_ONCE) break;
  }
  for (const error of failures.values()) throw error;
}
