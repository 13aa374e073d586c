import type { Action, UserId } from '../../../domain/action.ts';
import { MAX_LIVE_AT_ONCE } from '../../../domain/lane.ts';
import { type Job, type JobSetup, pollByTheClockMs } from '../../../jobs/job.ts';
import { reachesFollowers } from '../../../domain/audience.ts';
import { isToPublish } from '../store/scheduled.ts';

/** Actions that are published with one write. */
const BATCH = 250;

/**
 * Publishes scheduled actions when their time has come, in order of it. The write that publishes them is the commit point, as the
 * insert of any other action is; then they are delivered as any other. If it is interrupted before, they are still due.
 */
export function publication({ core, config }: JobSetup): Job {
  const { refs, reports, scheduled, workSignal } = core;
  /** How many of each actor were due since there were last less than fill a batch. */
  const counts = new Map<UserId, number>();
  return {
    name: 'publication',
    every: pollByTheClockMs(config.fanOut.pollMs),
    due: [{ collection: 'actions', filter: isToPublish }],
    async run({ now, signal }) {
      const due = await scheduled.due(now, BATCH);
      if (due.length > 0 && !signal.aborted) await publish(due, now);
      if (due.length < BATCH) counts.clear();
      return due.length === BATCH && !signal.aborted;
    },
  };

  async function publish(due: readonly Action[], now: Date): Promise<void> {
    // Before: whatever interrupts this, nothing is hidden that is not in the queue.
    await Promise.all([
      refs.name(due.filter(reachesFollowers).flatMap((action) => action.refs)),
      ...due
        .filter(({ isHidden }) => isHidden)
        .map(({ id, actorId, version }) =>
          reports.hold({ kind: 'action', actionId: id, actorId }, now, version),
        ),
    ]);
    const count = await scheduled.publish(due, now, actorsOfMany(due));
    if (count === 0) return;
    core.onPublished(count);
    workSignal.notify('fan-out');
  }

  /** A member who has scheduled so many for the same time does not hold up others. */
  function actorsOfMany(due: readonly Action[]): UserId[] {
    for (const { actorId } of due) counts.set(actorId, (counts.get(actorId) ?? 0) + 1);
    return [...new Set(due.map(({ actorId }) => actorId))].filter(
      (actorId) => (counts.get(actorId) ?? 0) > MAX_LIVE_AT_ONCE,
    );
  }
}
