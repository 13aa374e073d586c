import type { DueDigest } from '../store/digests.ts';
import { eachDue, type Job, type JobSetup, type Round } from '../../../jobs/job.ts';

/** Wait after a failed count. Readers whose counts always fail would otherwise fill every batch. */
const RETRY_MS = 5 * 60_000;

/**
 * Records `digest.due` for readers who received something and have not read since. The event id is derived from the reader
 * and the due time, so retries record it once.
 *
 * @param afterMs inactivity after which a reader is reminded
 * @param mayLook whether this process should look for due digests. Two at once are harmless, but cost twice as much.
 */
export function digestJob(
  { core, config, countUnread }: JobSetup,
  afterMs: number,
  mayLook: () => boolean,
): Job {
  const { digests, eventOutbox } = core;
  const decideDue = eachDue({ batch: 50, due: (now, limit) => digests.due(now, limit), run: decide });
  return {
    name: 'digests',
    every: config.fanOut.pollMs,
    run: async (round) => mayLook() && decideDue(round),
  };

  async function decide(due: DueDigest, { now }: Round): Promise<void> {
    const earliest = (due.activeAt?.getTime() ?? 0) + afterMs;
    if (earliest > now.getTime()) {
      await digests.postpone(due, new Date(earliest));
      return;
    }
    let unread;
    try {
      unread = await countUnread(due.userId);
    } catch (error) {
      await digests.postpone(due, new Date(now.getTime() + RETRY_MS));
      throw error;
    }
    if (unread.count > 0) await eventOutbox.putDigest(due, unread);
    await digests.settle(due, unread.count > 0 ? now : null);
  }
}
