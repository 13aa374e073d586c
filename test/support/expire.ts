import { ObjectId } from 'mongodb';
import { expiry } from '../../src/features/publish/jobs/expiry.ts';
import type { JobRunner } from '../../src/jobs/job.ts';
import { MemoryWorkSignal } from '../../src/live/work-signal.ts';
import { reporting, runnerOf } from './jobs.ts';
import type { Parts } from './parts.ts';
import { revised } from '../../src/storage/stages/revision.ts';

/** As if the action had been published until then. Default: a moment ago. What is deleted already stays so. */
export async function letExpire(
  { database }: Pick<Parts, 'database'>,
  actionId: string,
  at = new Date(Date.now() - 1_000),
): Promise<void> {
  await database.collections.actions.updateOne(
    { _id: new ObjectId(actionId), isDeleted: false },
    revised({ $set: { expiresAt: at } }),
  );
}

/** @param onError default: throws, so that the round fails */
export function expiryWorker({
  core,
  onError,
}: Pick<Parts, 'core'> & { readonly onError?: (error: unknown) => void }): JobRunner {
  return runnerOf(
    expiry,
    { ...core, workSignal: new MemoryWorkSignal() },
    onError === undefined ? {} : { logger: reporting(onError) },
  );
}
