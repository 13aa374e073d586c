import { events } from '../../packages/events/src/jobs/event-mover.ts';
import { erasure } from '../../packages/erasure/src/jobs/erasure.ts';
import { dueNotifications, noteDue } from '../../packages/notifications/src/due.ts';
import { push } from '../../packages/web-push/src/push.ts';
import { webhooks } from '../../packages/webhooks/src/deliveries.ts';
import type { DeclareJob, NoteEvents } from '../jobs/job.ts';

/** Jobs that packages bring. */
export const PART_JOBS: readonly DeclareJob[] = [erasure, events, dueNotifications, push, webhooks];

/** Notified of events for hosts when they are moved to the log. */
export const EVENT_NOTES: readonly NoteEvents[] = [noteDue];
