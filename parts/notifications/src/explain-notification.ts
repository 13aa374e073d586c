import { notificationsOf } from './store/notifications.ts';
import type { Core } from '../../../src/core/core.ts';
import type { ActionId, UserId } from '../../../src/domain/action.ts';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import {
  CHANNELS,
  notificationKey,
  type Channel,
  preferenceOf,
  type EffectivePreference,
  type NotificationEvent,
  type NotificationKind,
} from '../../../src/domain/notification.ts';
import { isMutedPerson } from '../../../src/domain/mute.ts';
import { notificationDefaults } from '../../../src/descriptors/registry.ts';
import { idSchema } from '../../../src/descriptors/id-schema.ts';
import { getAction } from '../../../src/feed/page/read-actions.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { clock } from '../../../src/lib/clock.ts';
import { quietUntil } from '../../../src/domain/quiet-hours.ts';
import { validate } from '../../../src/core/validate.ts';
import { SENT } from './due.ts';
import { parseDueKey } from './store/due.ts';
import type { NotificationState } from './store/states.ts';
import { NotificationRead } from './notification-read.ts';
import type { Notification } from './groups.ts';
import { findNotifications } from './read-notifications.ts';

export type NotificationWithheld =
  | 'NO_EVENT'
  | 'OUT_OF_WINDOW'
  | 'KEPT_AWAY'
  | 'NOT_VISIBLE'
  | 'SWITCHED_OFF';

export type NotificationNotSent = 'NO_NOTIFICATION' | 'SWITCHED_OFF' | 'SEEN' | 'READ' | 'QUIET_HOURS';

/** Notifications to a member outside of the list. */
export interface NotificationSending {
  readonly channel: Channel;
  /** When the member was last notified; `null`: not, or long ago. */
  readonly notifiedAt: Date | null;
  /** When it is decided of what they are notified; `null`: nothing waits. */
  readonly dueAt: Date | null;
  /** Reasons why they would not be notified now. */
  readonly withheldBy: readonly NotificationNotSent[];
}

export interface NotificationExplanation {
  readonly memberId: UserId;
  /** As it is listed now; `null`: it is not. */
  readonly notification: Notification | null;
  readonly withheldBy: readonly NotificationWithheld[];
  readonly preferences: readonly EffectivePreference[];
  readonly sending: readonly NotificationSending[];
}

/**
 * Explains why there is or is no notification of a kind about an action, with the functions that decide the list. Follows have
 * no action: their notifications are those of today.
 * @throws FanfareError BAD_USER_INPUT, FORBIDDEN to ask about another member
 */
export async function explainNotification(
  core: Core,
  session: ReaderSession,
  {
    kind,
    actionId,
    memberId,
  }: {
    readonly kind: NotificationKind;
    readonly actionId: ActionId | null;
    readonly memberId: UserId | null;
  },
): Promise<NotificationExplanation> {
  const { identity } = session;
  const userId = memberId === null ? identity.userId : validate(idSchema, memberId, ['memberId']);
  const isOwn = userId === identity.userId;
  if (!isOwn && !identity.roles.has('admin'))
    throw new FanfareError(
      'FORBIDDEN',
      'To explain the notifications of another member requires the role admin',
    );
  if (actionId === null && kind !== 'FOLLOW') throw badInput('Is required for this kind', ['actionId']);
  if (kind === 'ASSIGNED') throw badInput('Assignments are listed as they are', ['kind']);
  // The other reader's roles are known only from their token.
  const reader = isOwn ? session : openSession(core, { userId, roles: new Set(), expiresAt: null });
  const key = notificationKey(kind, actionId ?? clock.now());
  const [found = null] = await findNotifications(core, reader, [key], CHANNELS);
  const state = await notificationsOf(core).state(userId);
  const action = actionId === null ? null : await getAction(reader, actionId);
  const type = action?.descriptor.type ?? null;
  const preferences = CHANNELS.map((channel) =>
    preferenceOf(notificationDefaults(), state.preferences, { kind, type, channel }),
  );
  const isOn = (channel: Channel): boolean => preferences.some((one) => one.channel === channel && one.isOn);
  const notification = isOn('IN_APP') ? found : null;
  const facts = {
    ...{ kind, key, isSwitchedOff: !isOn('IN_APP') },
    isVisible: actionId === null || action?.isHidden === false,
  };
  return {
    ...{ memberId: userId, notification, preferences },
    withheldBy: notification === null ? await withheldBy(core, reader, facts) : [],
    sending: SENT.map((channel) =>
      sendingOf(channel, { key, found, state, isOn: isOn(channel), isListed: isOn('IN_APP') }),
    ),
  };
}

function sendingOf(
  channel: Channel,
  {
    key,
    found,
    isOn,
    isListed,
    state: { notified, pending, dueAt, quietHours },
  }: {
    readonly key: string;
    readonly found: Notification | null;
    readonly isOn: boolean;
    /** The list shows it, so that the marks of the list count. */
    readonly isListed: boolean;
    readonly state: NotificationState;
  },
): NotificationSending {
  const isOfGroup = (event: string): boolean => parseDueKey(event).groupKey === key;
  const last = notified.findLast(({ event, channels }) => isOfGroup(event) && channels.includes(channel));
  const isQuiet = quietHours !== null && quietUntil(quietHours, clock.now()) !== null;
  const reasons: readonly (readonly [NotificationNotSent, boolean])[] = [
    ['NO_NOTIFICATION', found === null],
    ['SWITCHED_OFF', !isOn],
    ['SEEN', isListed && found?.isSeen === true],
    ['READ', isListed && found?.isRead === true],
    ['QUIET_HOURS', isQuiet],
  ];
  return {
    ...{ channel, notifiedAt: last?.at ?? null },
    dueAt: found !== null && pending.some(isOfGroup) ? dueAt : null,
    withheldBy: reasons.flatMap(([reason, applies]) => (applies ? [reason] : [])),
  };
}

const FIRST = { from: null, isUp: false, limit: 1 } as const;

async function withheldBy(
  core: Core,
  reader: ReaderSession,
  facts: {
    readonly kind: NotificationKind;
    readonly key: string;
    readonly isVisible: boolean;
    readonly isSwitchedOff: boolean;
  },
): Promise<NotificationWithheld[]> {
  const { kind, key, isVisible, isSwitchedOff } = facts;
  const of = key.slice(kind.length + 1);
  const options = { groups: 2, only: [{ kind, of }] };
  // Nothing tells the reader of a block: what it withholds has not happened.
  const all = new NotificationRead(core, reader, { ...options, since: new Date(0), withMuted: true });
  const [group] = await all.next(FIRST);
  const { mutes } = await reader.profile();
  const isMuted = ({ actorId }: NotificationEvent): boolean =>
    actorId !== null && isMutedPerson(mutes, actorId);
  const reasons: NotificationWithheld[] = [];
  const [listed] = await new NotificationRead(core, reader, options).next(FIRST);
  if (group === undefined) reasons.push('NO_EVENT');
  else if (group.events.every(isMuted)) reasons.push('KEPT_AWAY');
  else if (listed === undefined) reasons.push('OUT_OF_WINDOW');
  if (!isVisible) reasons.push('NOT_VISIBLE');
  if (isSwitchedOff) reasons.push('SWITCHED_OFF');
  return reasons;
}
