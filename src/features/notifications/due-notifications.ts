import { notificationDefaults } from '../../descriptors/registry.ts';
import type { DueNotification } from '../../domain/host-event.ts';
import {
  type Channel,
  isRead,
  isSeen,
  type NotificationEvent,
  preferenceOf,
} from '../../domain/notification.ts';
import type { Context } from '../../feed/context.ts';
import { openSession } from '../../feed/session/open-session.ts';
import { findNotifications, type Notification } from './read-notifications.ts';
import { dueKey, type DueMember, parseDueKey } from './store/due.ts';
import type { NotificationState } from './store/states.ts';

/** All but the list. */
export const SENT: readonly Channel[] = ['EMAIL', 'PUSH'];

/** Of what a member is notified now by mail or push messages, by the rules of the list. One read of these notifications. */
export async function decideDue(
  context: Context,
  { id: userId, pending, state }: Pick<DueMember, 'id' | 'pending' | 'state'>,
): Promise<DueNotification[]> {
  const session = openSession(context, { userId, roles: new Set(['user']), expiresAt: null });
  const wanted = new Set(pending);
  const keys = [...new Set(pending.map((one) => parseDueKey(one).groupKey))];
  const found = await findNotifications(context, session, keys, SENT);
  return found.flatMap((one) => (one === null ? [] : toTell(one, wanted, state)));
}

/** What of a notification the member is to be notified; none if they have seen it, read it or switched it off. */
function toTell(
  { group: { key, kind, actionId, events }, action }: Notification,
  wanted: ReadonlySet<string>,
  state: NotificationState,
): DueNotification[] {
  const isNew = (event: NotificationEvent): boolean => {
    const position = { key, at: event.at };
    return wanted.has(dueKey(key, event.id)) && !isSeen(state, position) && !isRead(state, position);
  };
  const eventIds = events.filter(isNew).map(({ id }) => id);
  const type = action?.descriptor.type ?? null;
  const channels = SENT.filter(
    (channel) => preferenceOf(notificationDefaults(), state.preferences, { kind, type, channel }).isOn,
  );
  return eventIds.length === 0 || channels.length === 0 ? [] : [{ key, kind, actionId, eventIds, channels }];
}
