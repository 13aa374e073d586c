import { clock } from '../../../../src/lib/clock.ts';
import { newObjectId } from '../../../../src/storage/database/mongo.ts';
import { logErasureFailed, logErasureRound } from '../../../../src/telemetry/events.ts';
import { createStackOnce } from '../../../../src/telemetry/stack-once.ts';
import type { Job, JobSetup } from '../../../../src/jobs/job.ts';
import { runErasure } from './run-erasure.ts';

/** There is no signal, since erasures are few and not urgent to the second. */
const EVERY_MS = 5_000;

/** Completes erasures that a request did not finish, and runs the second pass. */
export function erasure({ core, logger, metrics }: JobSetup): Job {
  const failure = createStackOnce();
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
        metrics.erasureAttemptFailed();
        logErasureFailed(logger, { erasure: key, attempt: attempts, ...failure(error) });
      }
      return true;
    },
  };
}
