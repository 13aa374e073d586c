import { announceListChange } from '../../../feed/announce.ts';
import { hasMuteEnd } from '../store.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { type Job, type JobSetup, pollByTheClockMs } from '../../../jobs/job.ts';

const BATCH = 100;
/** After this margin the mute has ended by the clock of every process, so a read triggered by the event sees that. */
const MARGIN_MS = 250;

/** Sends `FeedResync` to watchers when one of their mutes ends. Reads use the clock and are exact. */
export function muteEnds({ core, config }: JobSetup): Job {
  const { leaseMs, pollMs } = config.fanOut;
  const { feedMutes } = core;
  return {
    name: 'mute ends',
    every: pollByTheClockMs(pollMs),
    due: [{ collection: 'feeds', filter: hasMuteEnd }],
    async run({ now: begunAt }) {
      const now = new Date(begunAt.getTime() - MARGIN_MS);
      const readers = await feedMutes.claimMuteEnds({ token: newObjectId(), now, leaseMs }, BATCH);
      if (readers.length === 0) return false;
      await announceListChange(core, readers, 'mutes');
      await feedMutes.settleMuteEnds(readers, now);
      return readers.length === BATCH;
    },
  };
}
