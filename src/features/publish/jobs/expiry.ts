import type { ActionId } from '../../../domain/action.ts';
import { isExpired } from '../../moderation/store/moderation.ts';
import { announceWithdrawal } from '../../../fan-out/announce-withdrawal.ts';
import { eachDue, type Job, type JobSetup, pollByTheClockMs } from '../../../jobs/job.ts';

/**
 * Deletes actions when they expire, each in one write. As after any deletion, watchers are notified at once; the following
 * pass removes stored entries, and notifies watchers if that was interrupted. Reads use the clock and are exact.
 */
export function expiry({ core, config }: JobSetup): Job {
  const { moderation, workSignal } = core;
  return {
    name: 'expiry',
    every: pollByTheClockMs(config.fanOut.pollMs),
    due: [{ collection: 'actions', filter: isExpired }],
    run: eachDue({
      batch: 100,
      due: (now, limit) => moderation.expired(now, limit),
      run: (id, { now }) => expire(id, now),
    }),
  };

  async function expire(id: ActionId, now: Date): Promise<void> {
    const action = await moderation.expire(id, now);
    if (action === null) return;
    // Watchers were notified when the action was hidden.
    if (!action.isHidden && (await announceWithdrawal(core, action, now)))
      await moderation.noteNotified(id, action.fanOut.version, now);
    workSignal.notify('fan-out');
  }
}
