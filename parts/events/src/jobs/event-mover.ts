import type { HostEvent } from '../../../../src/domain/host-event.ts';
import { type Job, type JobSetup, type Round, eachDue } from '../../../../src/jobs/job.ts';
import { type DueDigest, digestsRepository, isDigestDue } from '../store/digests.ts';
import { eventSourcesRepository } from '../store/event-sources.ts';
import { hostEventsRepository } from '../store/host-events.ts';
import { newObjectId } from '../../../../src/storage/database/mongo.ts';

const BATCH = 500;
/** A busy server writes events all the time, and a round costs the same for one as for hundreds. The first does not wait. */
const APART_MS = 250;
const PURGE_EVERY_MS = 60_000;
/** All events wait for a process that had the lease and was killed, so it is short. */
const LEASE_MS = 3_000;

/** None when events are not recorded. @param leaseMs how long the events wait for a process that was killed */
export function events(
  setup: JobSetup,
  leaseMs = Math.min(LEASE_MS, setup.config.fanOut.leaseMs),
): readonly Job[] {
  const { retentionMs, digests } = setup.config.events;
  if (retentionMs === null) return [];
  const mover = eventMover(setup, retentionMs, leaseMs);
  return digests === null ? [mover] : [mover, digestJob(setup, digests.afterMs)];
}

/**
 * Moves events from the documents they were written with to the log, where they are numbered; one process at a time. Safe to
 * interrupt and to repeat by any process: no event is lost or duplicated.
 */
function eventMover(setup: JobSetup, retentionMs: number, leaseMs: number): Job {
  const { core, config, workerId, eventsMoved } = setup;
  const { collections, workSignal } = core;
  const sources = eventSourcesRepository(collections);
  const log = hostEventsRepository(collections);
  const due = digestsRepository(collections);
  const { pollMs } = config.fanOut;
  const { digests } = config.events;
  let isHeld = false;
  let purgeAt = 0;
  let extendAt = 0;

  return {
    name: 'events',
    every: pollMs,
    atMostEvery: Math.min(APART_MS, pollMs),
    wokenBy: { signal: workSignal, work: 'any' },
    async run({ now }) {
      // Correctness does not depend on the lease, so it is not extended in every round.
      if (!isHeld || performance.now() >= extendAt) {
        extendAt = performance.now() + leaseMs / 3;
        isHeld = await log.lease(workerId, now, leaseMs);
      }
      if (!isHeld) return false;
      await purge(now);
      const batch = await sources.read(now, BATCH);
      if (batch.events.length === 0) return false;
      await log.append(batch.events, now);
      eventsMoved.notify('events');
      await noteDigests(batch.events, now);
      for (const note of setup.eventNotes) await note(setup, batch.events, now);
      await batch.taken();
      return batch.hasMore;
    },
    async close() {
      if (isHeld) await log.release(workerId);
    },
  };

  /** Runs before the events are removed from their source, so that an interruption repeats it. */
  async function noteDigests(moved: readonly HostEvent[], now: Date): Promise<void> {
    if (digests === null) return;
    const named = new Set(moved.flatMap(({ facts }) => facts.readers ?? []).map(({ memberId }) => memberId));
    const dueAt = new Date(now.getTime() + digests.afterMs);
    await due.note([...named], { dueAt, everyMs: digests.everyMs });
  }

  async function purge(now: Date): Promise<void> {
    if (performance.now() < purgeAt) return;
    const purged = await log.purge(new Date(now.getTime() - retentionMs), BATCH);
    if (purged < BATCH) purgeAt = performance.now() + PURGE_EVERY_MS;
  }
}

/** Wait after a failed count. Readers whose counts always fail would otherwise fill every batch. */
const RETRY_MS = 5 * 60_000;

/**
 * Records `digest.due` for readers who received something and have not read since. The event id is derived from the reader
 * and the due time, so retries record it once.
 *
 * @param afterMs inactivity after which a reader is reminded
 */
export function digestJob({ core, config, countUnread, digestTimes }: JobSetup, afterMs: number): Job {
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
    for (const timeOf of digestTimes) {
      const from = await timeOf(core, due.id, now);
      if (from === null) await digests.settle(due, null);
      else if (from > now) await digests.release(due, from);
      if (from === null || from > now) return;
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
