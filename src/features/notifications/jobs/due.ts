import type { DueNotification } from '../../../domain/host-event.ts';
import { quietUntil } from '../../../domain/quiet-hours.ts';
import { eachDue, type Job, type JobSetup } from '../../../jobs/job.ts';
import { newObjectId } from '../../../storage/database/mongo.ts';
import { type DueMember, isNotificationDue } from '../store/due.ts';

/** Wait after a failed read. Members whose reads always fail would otherwise fill every batch. */
const RETRY_MS = 5 * 60_000;

/**
 * Records `notification.due` for members whom something concerns that they have neither seen nor read. What they are notified is
 * decided now, by the rules of the list. None if no events are recorded.
 */
export function dueNotifications({ core, config, decideDue }: JobSetup): readonly Job[] {
  const { dueNotifications: due, eventOutbox, pushRegistrations } = core;
  const { leaseMs, pollMs } = config.fanOut;
  const { notifyAfterMs } = config.events;
  const isPushed = config.push !== null;
  if (notifyAfterMs === null) return [];
  return [
    {
      name: 'notifications',
      every: pollMs,
      due: [{ collection: 'notificationStates', filter: isNotificationDue }],
      run: eachDue({
        batch: 50,
        // A decision mostly waits for the database.
        beside: 8,
        due: (now, limit) => due.claimDue({ token: newObjectId(), now, leaseMs }, limit),
        run: (member, { now }) => tell(member, now, notifyAfterMs),
      }),
    },
  ];

  async function tell(member: DueMember, now: Date, afterMs: number): Promise<void> {
    const { quietHours } = member.state;
    const quiet = quietHours === null ? null : quietUntil(quietHours, now);
    if (quiet !== null) {
      await due.wait(member, quiet);
      return;
    }
    let notified: DueNotification[];
    try {
      notified = await decideDue(member);
    } catch (error) {
      await due.release(member, new Date(now.getTime() + RETRY_MS), { error });
      throw error;
    }
    if (notified.length > 0) {
      // The event is derived from what was pending, so that a retry records it once.
      const id = await eventOutbox.putNotifications(member, notified);
      const pushed = notified.filter(({ channels }) => channels.includes('PUSH'));
      if (isPushed) await pushRegistrations.queue(member.id, id, { notifications: pushed, now });
    }
    await due.settle(member, notified, { now, nextAt: new Date(now.getTime() + afterMs) });
  }
}
