import { clock } from '../../../lib/clock.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { isRenameDue, NAME_SOURCES, type RenameClaim } from '../store/renames.ts';
import { logNameCarried, logRenameAttemptFailed } from '../../../telemetry/events.ts';
import { createStackOnce } from '../../../telemetry/stack-once.ts';
import type { Job, JobSetup, Round } from '../../../jobs/job.ts';

const FIRST_BACKOFF_MS = 200;
/** A rename is retried for ever: nobody else would finish it. */
const MAX_BACKOFF_MS = 60_000;

const IN_BULK = { lane: 'BULK', kind: 'rename' } as const;

/**
 * Updates copies of changed names, one name at a time. Level-triggered: writes the current name until no action has an older
 * one; a change meanwhile leads to one more pass. An interrupted process loses nothing, and a late one never overwrites a
 * newer name. Polls without a signal: reads show a new name at once anyway, and the work signal fires for every action.
 */
export function renames({ core, config, gate, logger }: JobSetup): Job {
  const { leaseMs, pollMs, chunkSize } = config.fanOut;
  const failure = createStackOnce();
  return {
    name: 'renames',
    every: pollMs,
    due: NAME_SOURCES.map((collection) => ({ collection, filter: isRenameDue })),
    async run({ signal }) {
      let settled = 0;
      for (const source of NAME_SOURCES)
        settled += await core.renames.settleFirst(source, clock.now(), chunkSize);
      const claim = await core.renames.claim({ token: newObjectId(), now: clock.now(), leaseMs });
      if (claim !== null) await rename(claim, signal);
      return settled > 0 || claim !== null;
    },
  };

  async function rename(claim: RenameClaim, signal: Round['signal']): Promise<void> {
    const { id, version, attempts } = claim;
    const startedAt = performance.now();
    try {
      const actions = await carry(claim, signal);
      if (actions === null || !(await core.renames.finish(claim))) {
        await core.renames.release(claim, clock.now());
        return;
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      logNameCarried(logger, { id, version, actions, seconds });
    } catch (error) {
      logRenameAttemptFailed(logger, { id, attempt: attempts, ...failure(error) });
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempts - 1));
      await core.renames.release(claim, new Date(clock.time() + backoffMs), { error });
    }
  }

  /** Writes until no action has an older name. Returns the number of updated actions; `null` when interrupted. */
  async function carry(claim: RenameClaim, signal: Round['signal']): Promise<number | null> {
    const name = await core.renames.current(claim.id);
    let actions = 0;
    for (;;) {
      const found =
        name === null ? 0 : await gate.run(IN_BULK, () => core.renames.carry(claim.id, name, chunkSize));
      if (found === 0) return actions;
      actions += found;
      const leaseUntil = new Date(clock.time() + leaseMs);
      if (signal.aborted || !(await core.renames.renew(claim, leaseUntil))) return null;
    }
  }
}
