import { expiry } from '../features/publish/jobs/expiry-worker.ts';
import type { DeclareJob } from '../jobs/job.ts';
import { muteEnds } from '../features/mutes/jobs/mute-ends-worker.ts';
import { renames } from '../features/directory/jobs/rename-worker.ts';
import { rescoring } from '../features/ranking/jobs/rescore-worker.ts';
import { snoozeEnds } from '../features/marks/jobs/snooze-worker.ts';

/** Everything a worker process does in the background, beside fan-outs. */
export const JOBS: readonly DeclareJob[] = [expiry, muteEnds, renames, rescoring, snoozeEnds];
