import { events } from '../../packages/events/src/jobs/event-mover.ts';
import { erasure } from '../../packages/erasure/src/jobs/erasure.ts';
import { push } from '../../packages/web-push/src/push.ts';
import { webhooks } from '../../packages/webhooks/src/deliveries.ts';
import type { DeclareJob } from '../jobs/job.ts';

/** Jobs that packages bring. */
export const PART_JOBS: readonly DeclareJob[] = [erasure, events, push, webhooks];
