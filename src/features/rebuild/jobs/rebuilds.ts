import type { RebuildClaim } from '../store.ts';
import { StoreUnavailable } from '../../../storage/database/errors.ts';
import { holdLease } from '../../../fan-out/passes.ts';
import { Outage } from '../../../lib/outage.ts';
import type { Job, JobSetup } from '../../../jobs/job.ts';
import { beginRebuilds, sweepFeed, type RebuildTurns } from '../../../feed/reconcile-feed.ts';
import { StretchGuess } from '../../../feed/source.ts';
import { TRIM_GRACE_MS } from '../../../feed/trim-feeds.ts';
import { clock } from '../../../lib/clock.ts';
import { logFeedRebuilt } from '../../../telemetry/events.ts';

/** How long a rebuild waits for a running fan-out to end. */
const POSTPONE_MS = 250;
/** Backoff while the feed store is away: the first, and the longest. */
const FIRST_OUTAGE_MS = 200;
const MAX_OUTAGE_MS = 5_000;

/** Feeds that are claimed at once: what their readers have in common is read once. */
const AT_ONCE = 16;
/** Concurrent rebuilds among them: the gate allows two bulk chunks at once, while another rebuild is ending. */
const SIDE_BY_SIDE = 3;

const IN_BULK = { lane: 'BULK', kind: 'rebuild' } as const;

/**
 * Rebuilds several feeds, feedRebuilds concurrently. An interrupted or repeated rebuild does no harm; a feed that becomes due again is
 * rebuilt once more. A feed whose rebuild fails stays due, and is retried when its lease expires, or when the feed store is
 * back.
 */
export function rebuilds({ core, config, gate, logger }: JobSetup): Job {
  const { feedRebuilds, fanOuts, workSignal } = core;
  const { leaseMs, pollMs } = config.fanOut;
  const turns: RebuildTurns = { inTurn: (chunk) => gate.run(IN_BULK, chunk), stretch: new StretchGuess() };
  const outage = new Outage(FIRST_OUTAGE_MS, MAX_OUTAGE_MS);

  return {
    name: 'rebuilds',
    every: pollMs,
    wokenBy: { signal: workSignal, work: 'rebuild' },
    async run({ signal, failed }) {
      if (outage.waitMs > 0) return false;
      const failures: unknown[] = [];
      let found = false;
      while (failures.length === 0 && !signal.aborted) {
        const claims = await feedRebuilds.claimDue(clock.now(), leaseMs, AT_ONCE);
        if (claims.length === 0) break;
        found = true;
        await rebuildAll(claims, failures, signal);
      }
      const [first, ...others] = failures;
      if (failures.length === 0) return found;
      for (const other of others) if (String(other) !== String(first)) failed(other);
      throw first;
    },
  };

  /** After the first failure, or when the process ends, no more begin; those are given back. */
  async function rebuildAll(
    claims: readonly RebuildClaim[],
    failures: unknown[],
    signal: AbortSignal,
  ): Promise<void> {
    const held = new Set(claims);
    // Renewed however long it takes, otherwise another worker would take the rebuilds for interrupted.
    using _lease = holdLease(async () => {
      await Promise.all([...held].map((claim) => feedRebuilds.renewRebuild(claim, leaseMs)));
      return true;
    }, leaseMs);
    const failed = async (claim: RebuildClaim, error: unknown): Promise<void> => {
      held.delete(claim);
      failures.push(error);
      await handBack(claim, error).catch((another: unknown) => failures.push(another));
    };
    try {
      // Passes that started before may have read the reader's old state, and may write after the feed has been examined.
      const older = new Set(await fanOuts.ownClaims());
      const rebuildOne = await beginRebuilds(core, claims, turns);
      const waiting = [...claims];
      const oneAfterAnother = async (): Promise<void> => {
        while (failures.length === 0 && !signal.aborted) {
          const claim = waiting.shift();
          if (claim === undefined) return;
          try {
            await rebuild(claim, { older, rebuildOne });
            held.delete(claim);
          } catch (error) {
            await failed(claim, error);
          }
        }
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, oneAfterAnother));
      await Promise.all(waiting.map((claim) => feedRebuilds.postponeRebuild(claim, clock.now())));
    } catch (error) {
      await Promise.all([...held].map((claim) => failed(claim, error)));
    }
  }

  /** Reschedules after a short backoff if the store is away; otherwise it is due when its lease expires. */
  async function handBack(claim: RebuildClaim, error: unknown): Promise<void> {
    if (!(error instanceof StoreUnavailable)) return;
    const until = new Date(clock.time() + outage.failed());
    await feedRebuilds.postponeRebuild(claim, until, { error });
  }

  async function rebuild(claim: RebuildClaim, { older, rebuildOne }: Begun): Promise<void> {
    const { userId, wasCutOff } = claim;
    const startedAt = performance.now();
    const floor = await rebuildOne(claim);
    outage.over();
    if (older.size > 0) {
      if ((await fanOuts.ownClaims()).some((token) => older.has(token))) {
        await feedRebuilds.postponeRebuild(claim, new Date(clock.time() + POSTPONE_MS));
        return;
      }
      await sweepFeed(core, userId);
    }
    // Writes from before the interruption look as if they had always been there.
    if (wasCutOff) await core.liveLog.forget(userId);
    const now = clock.now();
    await feedRebuilds.finishRebuild(claim, { floor, now, trimAt: new Date(now.getTime() + TRIM_GRACE_MS) });
    logFeedRebuilt(logger, { userId, seconds: (performance.now() - startedAt) / 1_000 });
  }
}

interface Begun {
  /** Fan-outs that were under way before. */
  readonly older: ReadonlySet<string>;
  readonly rebuildOne: Awaited<ReturnType<typeof beginRebuilds>>;
}
