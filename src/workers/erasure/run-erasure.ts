import type { ErasureClaim } from '../../storage/privacy/erasures.ts';
import { ERASURE_STEPS, type ErasureDependencies } from './erasure-steps.ts';
import { clock } from '../../lib/clock.ts';

/** All in milliseconds. */
export interface ErasureTiming {
  /** How long a batch may take before somebody else takes the erasure over. */
  readonly leaseMs: number;
  /** When to look again: later than any delivery, publication or rebuild can last that had read the member before. */
  readonly confirmAfterMs: number;
}

export interface RunErasureDependencies extends ErasureDependencies {
  readonly timing: ErasureTiming;
}

export const ERASURE_TIMING: ErasureTiming = { leaseMs: 30_000, confirmAfterMs: 60_000 };

const FIRST_BACKOFF_MS = 500;
/** An erasure is never given up. */
const MAX_BACKOFF_MS = 5 * 60_000;

/**
 * Runs one round: every step, batch by batch, until nothing is left. Begins at the first step even where another
 * attempt had come further: a step with nothing to do is one query. What is not done is handed back.
 *
 * @param isToStop asked before every batch.
 * @returns whether the round came to its end.
 * @throws what a step failed with, after the erasure was handed back for a later attempt.
 */
export async function runErasure(
  dependencies: RunErasureDependencies,
  claim: ErasureClaim,
  isToStop: () => boolean,
): Promise<boolean> {
  const { erasures, timing } = dependencies;
  try {
    for (const step of ERASURE_STEPS) {
      let changed: number;
      do {
        if (isToStop()) {
          await erasures.release(claim, clock.now());
          return false;
        }
        changed = await step.run(dependencies, claim.subject);
        const leaseUntil = new Date(clock.time() + timing.leaseMs);
        if (!(await erasures.progress(claim, { step: step.name, changed }, leaseUntil))) return false;
      } while (changed > 0);
    }
    const now = clock.now();
    return await erasures.finishRound(claim, now, new Date(now.getTime() + timing.confirmAfterMs));
  } catch (error) {
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (claim.attempts - 1));
    await erasures.release(claim, new Date(clock.time() + backoffMs)).catch(() => {
      // The lease ends on its own. What counts is why it failed.
    });
    throw error;
  }
}
