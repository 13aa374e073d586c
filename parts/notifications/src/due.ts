import { quietUntil } from '../../../src/domain/quiet-hours.ts';
import { type DigestTime, eachDue, type Job, type JobSetup } from '../../../src/jobs/job.ts';
import { newObjectId } from '../../../src/storage/database/mongo.ts';
import { notificationDefaults } from '../../../src/descriptors/registry.ts';
import type { DueNotification, HostEvent } from '../../../src/domain/host-event.ts';
import {
  type Channel,
  isRead,
  isSeen,
  NOTIFICATION_KINDS,
  type NotificationEvent,
  type NotificationKind,
  preferenceOf,
} from '../../../src/domain/notification.ts';
import type { Context } from '../../../src/feed/context.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { Notification } from './groups.ts';
import { findNotifications } from './read-notifications.ts';
import { NOTIFICATIONS } from './settings.ts';
import {
  dueKey,
  type DueMember,
  dueNotificationsRepository,
  isNotificationDue,
  parseDueKey,
} from './store/due.ts';
import { notificationStates, type NotificationState } from './store/states.ts';

/** Wait after a failed read. Members whose reads always fail would otherwise fill every batch. */
const RETRY_MS = 5 * 60_000;

/**
 * When quiet hours end. Never while the member has switched off mails of all kinds that the host does not lock: by default they
 * are off, which says nothing about digests. One command.
 */
export const digestTime: DigestTime = async ({ collections }, memberId, now) => {
  const { preferences, quietHours } = await notificationStates(collections).state(memberId);
  const isOff = (kind: NotificationKind): boolean =>
    preferenceOf(notificationDefaults(), [], { kind, type: null, channel: 'EMAIL' }).isLocked ||
    preferences.some((one) => one.kind === kind && one.type === null && one.channel === 'EMAIL' && !one.isOn);
  if (NOTIFICATION_KINDS.every(isOff)) return null;
  return quietHours === null ? now : (quietUntil(quietHours, now) ?? now);
};

/**
 * Records `notification.due` for members whom something concerns that they have neither seen nor read. What they are notified is
 * decided now, by the rules of the list. None if no events are recorded.
 */
export function dueNotifications({ core, config }: JobSetup, decide = decideDue): readonly Job[] {
  const due = dueNotificationsRepository(core.collections);
  const { eventOutbox } = core;
  const { leaseMs, pollMs } = config.fanOut;
  const { notifyAfterMs } = config.of(NOTIFICATIONS);
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
      notified = await decide(core, member);
    } catch (error) {
      await due.release(member, new Date(now.getTime() + RETRY_MS), { error });
      throw error;
    }
    // The event is derived from what was pending, so that a retry records it once.
    if (notified.length > 0) await eventOutbox.putNotifications(member, notified, now);
    await due.settle(member, notified, { now, nextAt: new Date(now.getTime() + afterMs) });
  }
}

/** Notes whom events concern, before they are removed from their sources. */
export async function noteDue(
  { core, config }: JobSetup,
  events: readonly HostEvent[],
  now: Date,
): Promise<void> {
  const { notifyAfterMs } = config.of(NOTIFICATIONS);
  if (notifyAfterMs === null) return;
  const dueAt = new Date(now.getTime() + notifyAfterMs);
  await dueNotificationsRepository(core.collections).note(events, { now, dueAt });
}

/** All but the list. */
export const SENT: readonly Channel[] = ['EMAIL', 'PUSH'];

/** Of what a member is notified now by mail or push messages, by the rules of the list. One read of these notifications. */
export async function decideDue(
  context: Context,
  member: Pick<DueMember, 'id' | 'pending' | 'state'>,
): Promise<DueNotification[]> {
  const session = openSession(context, { userId: member.id, roles: new Set(['user']), expiresAt: null });
  return (await findDue(context, session, member)).map(({ due }) => due);
}

/** The same with the notifications as the session's reader is shown them. */
export async function findDue(
  context: Context,
  session: ReaderSession,
  { pending, state }: Pick<DueMember, 'pending' | 'state'>,
): Promise<{ readonly due: DueNotification; readonly notification: Notification }[]> {
  const wanted = new Set(pending);
  const keys = [...new Set(pending.map((one) => parseDueKey(one).groupKey))];
  const found = await findNotifications(context, session, keys, SENT);
  return found.flatMap((notification) =>
    notification === null ? [] : toTell(notification, wanted, state).map((due) => ({ due, notification })),
  );
}

/** The events of a notification that the member is to be notified of; none if they have seen it, read it or switched it off. */
function toTell(
  { group: { key, kind, actionId, events }, action }: Notification,
  wanted: ReadonlySet<string>,
  state: NotificationState,
): DueNotification[] {
  const type = action?.descriptor.type ?? null;
  const isOn = (channel: Channel): boolean =>
    preferenceOf(notificationDefaults(), state.preferences, { kind, type, channel }).isOn;
  const isListed = isOn('IN_APP');
  const isNew = (event: NotificationEvent): boolean => {
    const position = { key, at: event.at };
    // Opening the list does not mark as seen what it does not show.
    const isKnown = isListed && (isSeen(state, position) || isRead(state, position));
    return wanted.has(dueKey(key, event.id)) && !isKnown;
  };
  const eventIds = events.filter(isNew).map(({ id }) => id);
  const channels = SENT.filter(isOn);
  return eventIds.length === 0 || channels.length === 0 ? [] : [{ key, kind, actionId, eventIds, channels }];
}
