import { events } from '../../parts/events/src/jobs/event-mover.ts';
import { erasure } from '../../parts/erasure/src/jobs/erasure.ts';
import { digestTime, dueNotifications, noteDue } from '../../parts/notifications/src/due.ts';
import { push } from '../../parts/web-push/src/push.ts';
import { webhooks } from '../../parts/webhooks/src/deliveries.ts';
import type { DeclareJob, DigestTime, NoteEvents } from '../jobs/job.ts';

/** Jobs that parts bring. */
export const PART_JOBS: readonly DeclareJob[] = [erasure, events, dueNotifications, push, webhooks];

/** Notified of events for hosts when they are moved to the log. */
export const EVENT_NOTES: readonly NoteEvents[] = [noteDue];

/** What members say of the time of their digests. */
export const DIGEST_TIMES: readonly DigestTime[] = [digestTime];
