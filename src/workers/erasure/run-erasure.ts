import type { ErasureClaim } from '../../storage/privacy/erasures.ts';
import type { Context } from '../../feeds/context.ts';
import { ERASURE_STEPS } from './erasure-steps.ts';
import { clock } from '../../lib/clock.ts';

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
): Promise<boolean> {
  const { erasures, erasureTiming: timing } = context;
  try {
    for (const step of ERASURE_STEPS) {
      let changed: number;
      do {
        if (isToStop()) {
          await erasures.release(claim, clock.now());
          return false;
        }
        changed = await step.run(context, claim.subject);
        const leaseUntil = new Date(clock.time() + timing.leaseMs);
        if (!(await erasures.progress(claim, { step: step.name, changed }, leaseUntil))) return false;
      } while (changed > 0);
    }
    const now = clock.now();
    return await erasures.finishRound(claim, now, new Date(now.getTime() + timing.confirmAfterMs));
  } catch (error) {
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (claim.attempts - 1));
    await erasures.release(claim, new Date(clock.time() + backoffMs)).catch(() => {
      // The lease will expire on its own; report the original error.
    });
    throw error;
  }
}
