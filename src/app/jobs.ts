import { expiry } from '../workers/expiry/expiry-worker.ts';
import type { DeclareJob } from '../workers/job.ts';
import { muteEnds } from '../workers/mutes/mute-ends-worker.ts';
import { renames } from '../workers/rename/rename-worker.ts';
import { rescoring } from '../workers/rescore/rescore-worker.ts';
import { snoozeEnds } from '../workers/snoozes/snooze-worker.ts';

/** Everything a worker process does in the background, beside fan-outs. */
export const JOBS: readonly DeclareJob[] = [expiry, muteEnds, renames, rescoring, snoozeEnds];
