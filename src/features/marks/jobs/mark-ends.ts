import { announce } from '../../../feed/announce.ts';
import { isEndDue } from '../store/mark-ends.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { type Job, type JobSetup, pollByTheClockMs } from '../../../jobs/job.ts';

const BATCH = 100;

/** Notifies watchers of items that come back. Reads use the clock and are exact. */
export function markEnds({ core, config }: JobSetup): Job {
  const { leaseMs, pollMs } = config.fanOut;
  return {
    name: 'mark ends',
    every: pollByTheClockMs(pollMs),
    due: [{ collection: 'itemMarks', filter: isEndDue }],
    async run({ now }) {
      const token = newObjectId();
      const ended = await core.markEnds.claimEnded({ token, now, leaseMs }, BATCH);
      if (ended.length === 0) return false;
      await announce(
        core,
        ended.map(({ userId, actionId, until }) => ({
          userId,
          // The reasons, and whether the item is in the feed at all, are decided when the event is sent.
          event: { kind: 'added', actionId, relevancy: until, reasons: [] },
        })),
      );
      await core.markEnds.finishEnded(token, ended);
      return ended.length === BATCH;
    },
  };
}
