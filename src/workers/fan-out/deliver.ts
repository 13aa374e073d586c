import { isDeepStrictEqual } from 'node:util';
import type { Action, Reshare, UserId } from '../../domain/action.ts';
import type { InteractionGroup } from '../../domain/relevancy.ts';
import type { FeedStore, ReaderDelivery } from '../../feeds/feed-store.ts';
import { forEachInOrder } from '../../lib/for-each-in-order.ts';
import { markLast } from '../../lib/mark-last.ts';
import { prefetch } from '../../lib/prefetch.ts';
import type { Claim } from '../../storage/fan-out/fan-outs.ts';
import type { InteractionSummary } from '../../storage/interactions/interactions.ts';
import { announce, type Announcement } from '../../realtime/announce.ts';
import type { EntryEvent } from '../../realtime/live-log.ts';
import { announcePulled } from './announce-pulled.ts';
import type { PassOutcome } from './pass-outcome.ts';
import { PassProgress } from './pass-progress.ts';
import { audienceOf, type AudienceMember } from './audience.ts';
import type { Fence } from './fence.ts';
import { watchersAmongAudience, watchersInChunk } from './watchers.ts';
import { raiseFloors } from '../../feeds/trim-feeds.ts';
import { relevancies } from '../../feeds/boost.ts';
import { traced } from '../../telemetry/tracing.ts';
import { clock } from '../../lib/clock.ts';
import { recordDelivered } from '../events/record-delivered.ts';
import type { DeliverDependencies } from './fan-out-dependencies.ts';

/** Chunks of one pass that are under way at the same time. */
const CHUNKS_AT_ONCE = 3;
/** Chunks of watchers: while one is announced, the next is written. */
const WATCHERS_CHUNKS_AT_ONCE = 2;

/**
 * Chunks of the audience are delivered side by side, a few at a time, so that the database has work while others are
 * announced. Progress is noted in the order of the audience: behind a checkpoint everything is done. Who is watching gets it
 * before all others, since they are the ones who wait for it, unless the whole audience is no more than is written in one
 * go; a pass that goes on from a checkpoint leaves that to the one before. They do not wait for their turn either, but in
 * the lane of what nobody waits for.
 */
export async function deliverToAll(
  dependencies: DeliverDependencies,
  claim: Claim,
  fence: Fence,
): Promise<PassOutcome> {
  const chunkSize = chunkSizeOf(dependencies, claim);
  const { action } = claim;
  const interactions = await deriveFromInteractions(dependencies, claim);
  if (interactions === null) return { kind: 'void', reached: null };
  const progress = new PassProgress(claim, fence);
  let begun = 0;
  let served: Promise<ReadonlySet<UserId>> | undefined;
  const watchersFirst = (watchers: Watchers): Promise<ReadonlySet<UserId>> => {
    const delivery = { claim, action, interactions };
    const deliver = (): Promise<ReadonlySet<UserId>> => deliverToWatchers(dependencies, delivery, watchers);
    return claim.lane === 'BULK'
      ? dependencies.gate.run({ lane: claim.lane, kind: 'fan-out' }, deliver)
      : deliver();
  };
  const chunks = audienceOf(dependencies, action, {
    ...{ afterUserId: claim.afterUserId, chunkSize, before: claim.toldAudience },
  });
  await forEachInOrder(prefetch(markLast(chunks)), CHUNKS_AT_ONCE, {
    mayBegin: () => progress.mayGoOn(),
    async work({ value: chunk, isLast }) {
      served ??=
        claim.afterUserId === null
          ? watchersFirst(
              isLast ? watchersInChunk(dependencies, chunk) : watchersAmongAudience(dependencies, action),
            )
          : Promise.resolve(NOBODY);
      // An attempt that was cut off has written beyond its checkpoint by as many chunks as are under way at a time.
      const isFirstAttempt = claim.version === 1 && !(claim.wasCutOff && begun < CHUNKS_AT_ONCE);
      begun += 1;
      const isServed = await served;
      const others = isServed.size === 0 ? chunk : chunk.filter(({ userId }) => !isServed.has(userId));
      const delivery = { claim, action, interactions, chunk: others, isFirstAttempt, areWatching: false };
      return dependencies.gate.run({ lane: progress.lane, kind: 'fan-out' }, async () => {
        // It may have waited for long.
        if (progress.isStopping()) return null;
        const [delivered] = await Promise.all([
          traced('chunk', { 'fanfare.readers': others.length }, () => deliverChunk(dependencies, delivery)),
          // Before the checkpoint: what is behind it, hosts are notified of for certain.
          recordDelivered(dependencies, { ...claim, action }, chunk),
        ]);
        return chunk.length - others.length + delivered.length;
      });
    },
    async conclude({ value: chunk }, delivered) {
      // A short chunk is the last one: the end of the pass is its checkpoint.
      const last = chunk.length < chunkSize ? undefined : chunk.at(-1);
      const reached = progress.add(delivered, last?.userId);
      if (reached === null) return;
      const leaseUntil = new Date(clock.time() + dependencies.leaseMs);
      progress.goOnIn(await dependencies.fanOuts.checkpoint(claim, reached, leaseUntil));
    },
  });
  if (progress.isVoid) return { kind: 'void', reached: progress.reached };
  if (progress.isStopped) return { kind: 'stopped' };
  await announcePulled(dependencies, action, { claim, interactions });
  return { kind: 'complete', delivered: progress.delivered };
}

/** Chunks of bulk are half as large: what is urgent waits for no chunk that has begun, but shares the database with it. */
function chunkSizeOf({ chunkSize }: Pick<DeliverDependencies, 'chunkSize'>, { lane }: Claim): number {
  return lane === 'BULK' ? Math.ceil(chunkSize / 2) : chunkSize;
}

const NOBODY: ReadonlySet<UserId> = new Set();

interface Delivery {
  readonly claim: Claim;
  readonly action: Action;
  readonly interactions: readonly InteractionGroup[];
}

type Watchers = AsyncIterable<readonly AudienceMember[]>;

/** Returns whom it was delivered to. */
async function deliverToWatchers(
  dependencies: DeliverDependencies,
  delivery: Delivery,
  watchers: Watchers,
): Promise<ReadonlySet<UserId>> {
  const { version, wasCutOff } = delivery.claim;
  const isFirstAttempt = version === 1 && !wasCutOff;
  const served = new Set<UserId>();
  await forEachInOrder(watchers, WATCHERS_CHUNKS_AT_ONCE, {
    mayBegin: () => true,
    work: (chunk) => deliverChunk(dependencies, { ...delivery, chunk, isFirstAttempt, areWatching: true }),
    conclude(_chunk, userIds) {
      for (const userId of userIds) served.add(userId);
      return Promise.resolve();
    },
  });
  return served;
}

interface ChunkDelivery extends Delivery {
  readonly chunk: readonly AudienceMember[];
  readonly isFirstAttempt: boolean;
  /** Each of them, as of a moment ago. */
  readonly areWatching: boolean;
}

/** Returns whom it was delivered to: readers who are not skipped. */
async function deliverChunk(
  dependencies: DeliverDependencies,
  { claim, action, interactions, chunk, isFirstAttempt, areWatching }: ChunkDelivery,
): Promise<readonly UserId[]> {
  if (chunk.length === 0) return [];
  const skipped = await dependencies.skipDormant(chunk.map(({ userId }) => userId));
  const awake = skipped.size === 0 ? chunk : chunk.filter(({ userId }) => !skipped.has(userId));
  const userIds = awake.map(({ userId }) => userId);
  const relevancyOf = await relevancies(dependencies, action, interactions, userIds);
  const readers: ReaderDelivery[] = awake.map(({ userId, reasons }) => ({
    userId,
    relevancy: relevancyOf(userId),
    reasons,
  }));
  const outcome = await dependencies.feedStore.deliver({ actionId: action.id, readers, isFirstAttempt });
  const announcements = announcementsOf(action.id, readers, outcome, notifiesAll(claim));
  await traced('announce', {}, () => announce(dependencies, announcements, { areWatching }));
  await raiseFloors(dependencies, outcome.added);
  return userIds;
}

/** Derives the counters, who has passed it on, and what boosts the action. Null: the claim is void. */
async function deriveFromInteractions(
  { interactions, fanOuts }: DeliverDependencies,
  claim: Claim,
): Promise<readonly InteractionGroup[] | null> {
  const { id, isBumped } = claim.action;
  // What was never marked has no interactions: nothing to look up for a new action.
  if (!isBumped) return [];
  const summary = (await interactions.summaries([id])).get(id);
  if (summary === undefined) return [];
  // Changes that met, or came while there were more than are kept, are mended by a pass of their own.
  if (!isSameReshares(claim.action.reshares, summary.reshares))
    if (await fanOuts.correctReshares(claim, summary.reshares)) return null;
  // As a rule each was counted when it was recorded: then the action is not written once more.
  if (isSameEngagement(claim.action, summary)) return summary.groups;
  const isHeld = await fanOuts.setEngagement(claim, summary.engagement, summary.latest);
  return isHeld ? summary.groups : null;
}

/** Whether the action says what its interactions come to. */
function isSameEngagement(
  { engagement: known, latest }: Pick<Action, 'engagement' | 'latest'>,
  { engagement: are, latest: newest }: Pick<InteractionSummary, 'engagement' | 'latest'>,
): boolean {
  return latest.getTime() >= newest.getTime() && isDeepStrictEqual(known, are);
}

function isSameReshares(known: readonly Reshare[], are: readonly Reshare[]): boolean {
  const times = new Map(known.map(({ by, at }) => [by, at.getTime()]));
  return known.length === are.length && are.every(({ by, at }) => times.get(by) === at.getTime());
}

/**
 * Whether a pass notifies everybody who watches, also of what stays where it is. What is there already may have been
 * written by a pass that was cut off before it announced it: not only for the readers of the chunk after the checkpoint,
 * for where the action has changed since, this pass started over, and how far the other one came is unknown. And an action
 * that has changed shows other counts, wherever it stands.
 */
function notifiesAll({ version, wasCutOff }: Claim): boolean {
  return wasCutOff || version > 1;
}

function announcementsOf(
  actionId: string,
  readers: readonly ReaderDelivery[],
  outcome: Awaited<ReturnType<FeedStore['deliver']>>,
  isForAll: boolean,
): Announcement[] {
  const added = new Set(outcome.added);
  const raised = new Set(outcome.raised);
  const events = new Map<string, EntryEvent>();
  return readers.flatMap(({ userId, relevancy, reasons }) => {
    if (!isForAll && !added.has(userId) && !raised.has(userId)) return [];
    const kind = added.has(userId) ? 'added' : 'updated';
    // Most readers are notified of the same.
    const name = `${kind} ${String(relevancy.getTime())} ${reasons.join()}`;
    const event = events.get(name) ?? { kind, actionId, relevancy, reasons };
    events.set(name, event);
    return [{ userId, event }];
  });
}
