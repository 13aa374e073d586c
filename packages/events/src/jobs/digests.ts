import { newObjectId } from '../../../../src/storage/database/mongo.ts';
import { digestsRepository, type DueDigest, isDigestDue } from '../store/digests.ts';
import { eachDue, type Job, type JobSetup, type Round } from '../../../../src/jobs/job.ts';

/** Wait after a failed count. Readers whose counts always fail would otherwise fill every batch. */
const RETRY_MS = 5 * 60_000;

/**
 * Records `digest.due` for readers who received something and have not read since. The event id is derived from the reader
 * and the due time, so retries record it once.
 *
 * @param afterMs inactivity after which a reader is reminded
 */
export function digestJob({ core, config, countUnread }: JobSetup, afterMs: number): Job {
  const { eventOutbox } = core;
  const digests = digestsRepository(core.collections);
  const { leaseMs, pollMs } = config.fanOut;
  return {
    name: 'digests',
    every: pollMs,
    due: [{ collection: 'feeds', filter: isDigestDue }],
    run: eachDue({
      batch: 50,
      due: (now, limit) => digests.claimDue({ token: newObjectId(), now, leaseMs }, limit),
      run: decide,
    }),
  };

  async function decide(due: DueDigest, { now }: Round): Promise<void> {
    const earliest = (due.activeAt?.getTime() ?? 0) + afterMs;
    if (earliest > now.getTime()) {
      await digests.release(due, new Date(earliest));
      return;
    }
    let unread;
    try {
      unread = await countUnread(due.id);
    } catch (error) {
      await digests.release(due, new Date(now.getTime() + RETRY_MS), { error });
      throw error;
    }
    if (unread.count > 0) await eventOutbox.putDigest(due, unread);
    await digests.settle(due, unread.count > 0 ? now : null);
  }
}
