import { ObjectId } from 'mongodb';
import type { JobRunner } from '../../src/jobs/job.ts';
import { markEnds } from '../../src/features/marks/jobs/mark-ends.ts';
import { runnerOf } from './jobs.ts';
import type { Parts } from './parts.ts';

/** As if the reader had snoozed the item until then, and that were over now. Nothing where it is not snoozed. */
export async function endSnoozeAt(
  { database }: Pick<Parts, 'database'>,
  userId: string,
  actionId: string,
  until: Date,
): Promise<void> {
  await database.collections.itemMarks.updateOne(
    { _id: { userId, actionId: new ObjectId(actionId) }, state: 'SNOOZED' },
    { $set: { until, lifting: { due: until } } },
  );
}

export const SNOOZE_LEASE_MS = 30_000;

export function snoozeWorker({ core }: Pick<Parts, 'core'>, every = 60_000): JobRunner {
  return runnerOf(markEnds, core, { fanOut: { leaseMs: SNOOZE_LEASE_MS }, every });
}
