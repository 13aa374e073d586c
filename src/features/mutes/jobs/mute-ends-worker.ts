import { announceListChange } from '../../../feed/announce.ts';
import { eachDue, type Job, type JobSetup, pollByTheClockMs } from '../../../jobs/job.ts';

/** After this margin the mute has ended by the clock of every process, so a read triggered by the event sees that. */
const MARGIN_MS = 250;

/** Sends `FeedResync` to watchers when one of their mutes ends. Reads use the clock and are exact. */
export function muteEnds({ core, config }: JobSetup): Job {
  const { leaseMs, pollMs } = config.fanOut;
  const { feeds } = core;
  const endedBy = (now: Date): Date => new Date(now.getTime() - MARGIN_MS);
  return {
    name: 'mute ends',
    every: pollByTheClockMs(pollMs),
    due: 'muteEnd',
    run: eachDue({
      batch: 100,
      due: (now, limit) => feeds.dueMuteEnds(endedBy(now), limit),
      async run({ userId, wakeAt }, { now }) {
        if (!(await feeds.claimMuteEnd(userId, wakeAt, new Date(now.getTime() + leaseMs)))) return;
        await announceListChange(core, [userId], 'mutes');
        await feeds.settleMuteEnds(userId, endedBy(now));
      },
    }),
  };
}
