import { erasureMetrics } from '../metrics.ts';
import { clock } from '../../../../src/lib/clock.ts';
import { newObjectId } from '../../../../src/storage/database/mongo.ts';
import { logErasureFailed, logErasureRound } from '../log.ts';
import { createStackOnce } from '../../../../src/telemetry/stack-once.ts';
import type { Job, JobSetup } from '../../../../src/jobs/job.ts';
import type { ErasureClaim } from '../../../../src/features/erasure/store/erasures.ts';
import { type MemberTraces, memberTraces } from '../store/member-traces.ts';
import type { Context } from '../../../../src/feed/context.ts';
import {
  type ErasureStepName,
  type ErasureSubject,
  type ErasureTask,
  newPseudonym,
} from '../../../../src/domain/erasure.ts';
import { announceInThreads } from '../../../../src/feed/announce.ts';
import { sliceLog } from '../../../../src/live/live-log.ts';
import { countFollowers } from '../../../../src/features/follow/store/count-followers.ts';

/** There is no signal, since erasures are few and not urgent to the second. */
const EVERY_MS = 5_000;

/** Completes erasures that a request did not finish, and runs the second pass. */
export function erasure({ core, logger, metrics }: JobSetup): Job {
  const failure = createStackOnce();
  const { erasureAttemptFailed } = metrics.of(erasureMetrics);
  let hasErased = false;
  return {
    name: 'erasure',
    every: EVERY_MS,
    async run({ signal }) {
      const { leaseMs } = core.erasureTiming;
      const claim = await core.erasures.claim({ token: newObjectId(), now: clock.now(), leaseMs });
      if (claim === null) {
        if (hasErased) await core.forgetDeleted();
        hasErased = false;
        return false;
      }
      // Identifies the erasure, but not its member.
      const { id: key, state, attempts } = claim;
      const startedAt = performance.now();
      try {
        if (await runErasure(core, claim, () => signal.aborted)) {
          if (state === 'CONFIRMING') hasErased = true;
          const seconds = (performance.now() - startedAt) / 1_000;
          logErasureRound(logger, { erasure: key, round: state, seconds });
        }
      } catch (error) {
        erasureAttemptFailed();
        logErasureFailed(logger, { erasure: key, attempt: attempts, ...failure(error) });
      }
      return true;
    },
  };
}

/** Does one batch. Returns the number of changes: 0 when nothing is left. Safe to interrupt and repeat. */
type ErasureStep = (erasing: Erasing, task: ErasureTask) => Promise<number>;

interface Erasing extends Context {
  readonly memberTraces: MemberTraces;
}

/** Documents per batch: a batch must finish well within a lease. */
const BATCH = 500;
/** A batch that takes longer counts as interrupted. */
const CUT_OFF_MS = 60_000;

/**
 * All steps of an erasure, in order. First the name, which is read from one place; then everything others can see; then the
 * member's own data (follows before the feed, which they would fill again) and the profile; last the open streams, since
 * they need a store that may be away and must not delay the rest.
 */
const ERASURE_STEPS: Readonly<Record<ErasureStepName, ErasureStep>> = {
  CONCEAL: ({ memberTraces }, subject) => memberTraces.conceal(subject),
  // The pseudonym first gets the followers too, then the actions: so a delivery finds all followers under either id.
  FOLLOWERS_COPY: ({ memberTraces }, subject) => memberTraces.copyFollowers(subject, BATCH),
  ACTIONS: ({ memberTraces }, subject) => memberTraces.anonymiseActions(subject, BATCH),
  INTERACTIONS: ({ memberTraces }, subject) => memberTraces.anonymiseInteractions(subject, BATCH),
  // After the interactions, from which a delivery derives the resharers.
  RESHARES: ({ memberTraces }, subject) => memberTraces.anonymiseReshares(subject, BATCH),
  FOLLOWS: endFollows,
  FOLLOWERS: moveFollowers,
  FEED: dropFeed,
  // Marks and whatever else is of nobody but the member.
  OWN_DOCUMENTS: ({ memberTraces }, subject) => memberTraces.removeOwn(subject, BATCH),
  MUTES: ({ memberTraces }, subject) => memberTraces.anonymiseMutes(subject, BATCH),
  BLOCKS: ({ blocks, feeds }, subject) => blocks.anonymise(subject, BATCH, feeds),
  SUPERVISION: ({ memberTraces }, subject) => memberTraces.anonymiseSupervisor(subject, BATCH),
  MODERATION: ({ memberTraces }, subject) => memberTraces.anonymiseModeration(subject, BATCH),
  REPORTS: ({ reports }, subject) => reports.anonymise(subject, BATCH),
  // After the data that events are made from.
  EVENTS: ({ memberTraces }, subject) => memberTraces.anonymiseEvents(subject, BATCH),
  FAN_OUTS: ({ memberTraces }, subject) => memberTraces.cleanFanOuts(subject),
  REQUESTS: ({ erasures }, { memberId }) => erasures.anonymiseRequests(memberId, newPseudonym(memberId)),
  PROFILE: ({ memberTraces }, subject) => memberTraces.removeProfile(subject),
  SESSIONS: endSessions,
  LIVE_LOG: forgetLiveLog,
};

/** Removes the member from the follower counts of their refs: by one each, or by recounting where the count is uncertain. */
async function endFollows(context: Erasing, subject: ErasureSubject): Promise<number> {
  const { memberTraces, followerCounts } = context;
  const follows = await memberTraces.followsOf(subject, BATCH);
  const epochs = await followerCounts.epochs(follows.map(({ refId }) => refId));
  const { ids, counted, uncertain } = await memberTraces.endFollows(subject, follows, newObjectId());
  const added = new Map(counted.map((refId) => [refId, -1]));
  await countFollowers(context, { added, uncertain: [], epochs });
  if (ids.length > 0) await memberTraces.dropFollows(ids);
  // One at a time, so that a retry does not repeat finished recounts.
  for (const { id, refId } of uncertain) {
    await countFollowers(context, { added: new Map(), uncertain: [refId], epochs });
    await memberTraces.dropFollows([id]);
  }
  return follows.length;
}

/** Rebuilds the feeds of members who followed the member as assigned, even if a batch is interrupted between its writes. */
function moveFollowers({ memberTraces, feedRebuilds }: Erasing, subject: ErasureSubject): Promise<number> {
  return memberTraces.moveFollowers(subject, clock.now(), {
    limit: BATCH,
    makeDue: (userIds, when) =>
      feedRebuilds.markDue(userIds, new Date(clock.time() + (when === 'before' ? CUT_OFF_MS : 0)), {
        isNotified: false,
      }),
  });
}

/** Removes entries in bounded writes, whatever the model, then the rest of what the model stores. */
async function dropFeed({ feedStores }: Context, { memberId }: ErasureSubject): Promise<number> {
  for (const feedStore of feedStores) {
    const { entries } = await feedStore.page({ userId: memberId, limit: BATCH });
    const actionIds = entries.map((entry) => entry.actionId);
    if (actionIds.length > 0) {
      await feedStore.remove([memberId], actionIds);
      return actionIds.length;
    }
    await feedStore.drop(memberId);
  }
  return 0;
}

/** Fails, and is retried, until all streams are known to be notified. */
async function endSessions({ sessionEnds }: Context, { memberId }: ErasureSubject): Promise<number> {
  await sessionEnds.endSessions(memberId);
  return 0;
}

/**
 * The log expires on its own minutes after the last watcher left, so a store that is away delays nothing. Members who watch a thread are
 * sent what is left of what the member did there: all of it, since an attempt that was interrupted may have announced nothing.
 */
async function forgetLiveLog(context: Erasing, subject: ErasureSubject): Promise<number> {
  const { liveLog, memberTraces, onLiveLogError } = context;
  try {
    await liveLog.forget(subject.memberId);
    // Who watches the member's slice reads it again.
    await liveLog.forget(sliceLog(subject.memberId));
  } catch (error) {
    onLiveLogError(error);
  }
  for await (const some of memberTraces.leftInteractions(subject))
    await announceInThreads(context, some, false);
  return 0;
}

const FIRST_BACKOFF_MS = 500;
/** An erasure is retried for ever. */
const MAX_BACKOFF_MS = 5 * 60_000;

/**
 * Runs one round: every step, batch by batch, until nothing is left. Always starts with the first step, since a step with
 * nothing to do costs one query. Unfinished work is released.
 *
 * @param isToStop asked before every batch.
 * @returns whether the round was completed.
 * @throws the error of a step, after the erasure was released for a later attempt.
 */
export async function runErasure(
  context: Context,
  claim: ErasureClaim,
  isToStop: () => boolean,
  traces = memberTraces(context),
): Promise<boolean> {
  const erasing = { ...context, memberTraces: traces };
  const { erasures, erasureTiming: timing } = context;
  try {
    for (const [step, run] of Object.entries(ERASURE_STEPS)) {
      let changed: number;
      do {
        if (isToStop()) {
          await erasures.release(claim, clock.now());
          return false;
        }
        changed = await run(erasing, claim.subject);
        const leaseUntil = new Date(clock.time() + timing.leaseMs);
        if (!(await erasures.progress(claim, { step, changed }, leaseUntil))) return false;
      } while (changed > 0);
    }
    const now = clock.now();
    return await erasures.finishRound(claim, now, new Date(now.getTime() + timing.confirmAfterMs));
  } catch (error) {
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (claim.attempts - 1));
    await erasures.release(claim, new Date(clock.time() + backoffMs), { error }).catch(() => {
      // The lease will expire on its own; report the original error.
    });
    throw error;
  }
}
