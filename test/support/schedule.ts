import { ObjectId } from 'mongodb';
import type { JobRunner } from '../../src/jobs/job.ts';
import { publication } from '../../src/features/publish/jobs/publication.ts';
import { revised } from '../../src/storage/stages/revision.ts';
import { runnerOf } from './jobs.ts';
import type { Parts } from './parts.ts';

/** As if its time had come. Default: just now. What is published already stays so. */
export async function letComeDue(
  { database }: Pick<Parts, 'database'>,
  actionId: string,
  at = new Date(),
): Promise<void> {
  await database.collections.actions.updateOne(
    { _id: new ObjectId(actionId), publishAt: { $exists: true } },
    revised({ $set: { publishAt: at } }),
  );
}

export const publicationWorker = ({ core }: Pick<Parts, 'core'>): JobRunner => runnerOf(publication, core);

/** Publishes and delivers what is due. */
export async function publishDue(parts: Parts): Promise<void> {
  await publicationWorker(parts).round();
  await parts.fanOut();
}
