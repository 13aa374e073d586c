import type { FoundRebuild, RebuildClaim } from '../store.ts';
import { StoreUnavailable } from '../../../storage/database/errors.ts';
import { holdLease } from '../../../fan-out/passes.ts';
import { Outage } from '../../../lib/outage.ts';
import type { Job, JobSetup } from '../../../jobs/job.ts';
import { rebuildStoredFeed, sweepFeed, type RebuildTurns } from '../../../feed/reconcile-feed.ts';
import { StretchGuess } from '../../../feed/source.ts';
import { TRIM_GRACE_MS } from '../../../feed/trim-feeds.ts';
import { clock } from '../../../lib/clock.ts';
import { logFeedRebuilt } from '../../../telemetry/events.ts';

/** How long a rebuild waits for a running fan-out to end. */
const POSTPONE_MS = 250;
/** Backoff while the feed store is away: the first, and the longest. */
const FIRST_OUTAGE_MS = 200;
const MAX_OUTAGE_MS = 5_000;

/** Concurrent rebuilds: the gate allows two bulk chunks at once, while another rebuild is being claimed or is ending. */
const SIDE_BY_SIDE = 3;

const IN_BULK = { lane: 'BULK', kind: 'rebuild' } as const;

/**
 * Rebuilds several feeds concurrently. An interrupted or repeated rebuild does no harm; a feed that becomes due again is
 * rebuilt once more. A feed whose rebuild fails stays due, and is retried when its lease expires, or when the feed store is
 * back.
 */
export function rebuilds({ core, config, gate, logger }: JobSetup): Job {
  const { feeds, fanOuts, workSignal } = core;
  const { leaseMs, pollMs } = config.fanOut;
  const turns: RebuildTurns = { inTurn: (chunk) => gate.run(IN_BULK, chunk), stretch: new StretchGuess() };
  const outage = new Outage(FIRST_OUTAGE_MS, MAX_OUTAGE_MS);
  let claiming: Promise<unknown> = Promise.resolve();

  return {
    name: 'rebuilds',
    every: pollMs,
    wokenBy: { signal: workSignal, work: 'rebuild' },
    async run({ signal, failed }) {
      if (outage.waitMs > 0) return false;
      const failures: unknown[] = [];
      const found = await oneAfterAnother({ place: 1, failures, signal });
      const [first, ...others] = failures;
      if (failures.length === 0) return found;
      for (const other of others) if (String(other) !== String(first)) failed(other);
      throw first;
    },
  };

  /**
   * Rebuilds due feeds one after another until there are none, or one fails. If others are due, too, starts a second such
   * loop beside it. Returns whether any was due.
   */
  async function oneAfterAnother(loop: Loop): Promise<boolean> {
    const { place, failures, signal } = loop;
    let beside: Promise<unknown> | null = null;
    let found = false;
    while (failures.length === 0 && !signal.aborted) {
      try {
        const claim = await claimOne();
        if (claim === null) break;
        found = true;
        if (place < SIDE_BY_SIDE && !claim.isOnly)
          beside ??= oneAfterAnother({ ...loop, place: place + 1 }).finally(() => {
            beside = null;
          });
        await rebuild(claim).catch((error: unknown) => handBack(claim, error));
      } catch (error) {
        failures.push(error);
      }
    }
    await beside;
    return found;
  }

  /** One claim at a time: concurrent ones would find the same feed. */
  function claimOne(): Promise<FoundRebuild | null> {
    const claim = claiming.then(() => feeds.claimDue(clock.now(), leaseMs));
    claiming = claim.catch(() => undefined);
    return claim;
  }

  /** Reschedules after a short backoff; a store outage is not counted as a failed attempt. */
  async function handBack(claim: RebuildClaim, error: unknown): Promise<never> {
    if (error instanceof StoreUnavailable) {
      const until = new Date(clock.time() + outage.failed());
      await feeds.postponeRebuild(claim, until, { error });
    }
    throw error;
  }

  async function rebuild(claim: RebuildClaim): Promise<void> {
    const { userId, wasCutOff } = claim;
    const startedAt = performance.now();
    // Renewed however long it takes, otherwise another worker would take the rebuild for interrupted.
    using _lease = holdLease(() => feeds.renewRebuild(claim, leaseMs), leaseMs);
    // Passes that started before may have read the reader's old state, and may write after the feed has been examined.
    const older = new Set(await fanOuts.ownClaims());
    const floor = await rebuildStoredFeed(core, claim, turns);
    outage.over();
    if (older.size > 0) {
      if ((await fanOuts.ownClaims()).some((token) => older.has(token))) {
        await feeds.postponeRebuild(claim, new Date(clock.time() + POSTPONE_MS));
        return;
      }
      await sweepFeed(core, userId);
    }
    // Writes from before the interruption look as if they had always been there.
    if (wasCutOff) await core.liveLog.forget(userId);
    const now = clock.now();
    await feeds.finishRebuild(claim, { floor, now, trimAt: new Date(now.getTime() + TRIM_GRACE_MS) });
    logFeedRebuilt(logger, { userId, seconds: (performance.now() - startedAt) / 1_000 });
  }
}

interface Loop {
  /** 1 for the first one. */
  readonly place: number;
  /** Of all loops of a round. The first one ends them. */
  readonly failures: unknown[];
  readonly signal: AbortSignal;
}
