import { notificationsOf } from './store/notifications.ts';
import type { Core } from '../../../src/core/core.ts';
import { z } from 'zod';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import {
  CHANNELS,
  MAX_PREFERENCES,
  NOTIFICATION_KINDS,
  preferenceOf,
  preferencesOf,
  type EffectivePreference,
  type Preference,
  type QuietHours,
} from '../../../src/domain/notification.ts';
import { notificationDefaults } from '../../../src/descriptors/registry.ts';
import { typeSchema } from '../../../src/feed/page/filters.ts';
import { ownLoad } from '../../../src/feed/session/load.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { announceOwnMarks } from '../../../src/feed/announce.ts';
import { zoneSchema } from '../../../src/core/contact.ts';
import { validate } from '../../../src/core/validate.ts';
import type { UserId } from '../../../src/domain/action.ts';

declare module '../../../src/core/core.ts' {
  interface Core {
    /** Called when a member has set other quiet hours: what waits for the end of theirs is decided again. */
    readonly quietHoursChanged?: (core: Core, userId: UserId, now: Date) => Promise<void>;
  }
}

/** The reader's settings of notifications. */
export const NOTIFICATION_STATE = ownLoad({
  batch: (core, wanted) => notificationsOf(core).statesOf(wanted.map(({ userId }) => userId)),
  key: ({ userId }) => [userId, userId],
});

/** Upper bound on preferences in one call. */
export const MAX_PREFERENCES_PER_CALL = 100;

const preferencesSchema = z
  .array(
    z.object({
      kind: z.enum(NOTIFICATION_KINDS),
      type: typeSchema.nullish().transform((type) => type ?? null),
      channel: z.enum(CHANNELS),
      isOn: z.boolean(),
    }),
  )
  .max(MAX_PREFERENCES_PER_CALL, `Must have at most ${String(MAX_PREFERENCES_PER_CALL)} entries`);

/** How the reader is notified: for each kind and channel, and for the types of actions that have a preference of their own. */
export async function readPreferences(session: ReaderSession): Promise<EffectivePreference[]> {
  const state = await session.load(NOTIFICATION_STATE, session.identity.userId);
  return preferencesOf(notificationDefaults(), state?.preferences ?? []);
}

/**
 * Sets preferences; those that are not named stay.
 * @throws FanfareError BAD_USER_INPUT, also for one that the host has locked; CONFLICT for too many
 */
export async function setNotificationPreferences(
  core: Core,
  session: ReaderSession,
  given: readonly { readonly [Field in keyof Preference]?: unknown }[],
): Promise<void> {
  const { userId } = session.identity;
  const preferences = validate(preferencesSchema, given, ['preferences']);
  for (const [index, one] of preferences.entries())
    if (preferenceOf(notificationDefaults(), [], one).isLocked)
      throw badInput('The host has locked this preference', ['preferences', index]);
  const targetOf = ({ kind, type, channel }: Preference): string => JSON.stringify([kind, type, channel]);
  // The last value counts, as if they had been set one after another.
  const set = new Map(preferences.map((one) => [targetOf(one), one]));
  const { preferences: known } = await notificationsOf(core).state(userId);
  if (new Set([...known.map(targetOf), ...set.keys()]).size > MAX_PREFERENCES)
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_PREFERENCES)} preferences can be set`);
  if (set.size === 0) return;
  await notificationsOf(core).setPreferences(userId, [...set.values()]);
  await announceOwnMarks(core, userId);
}

const timeSchema = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Must be a time such as 22:00');
const quietSchema = z.object({
  from: timeSchema,
  to: timeSchema,
  timeZone: zoneSchema,
  days: z
    .array(z.number().int().min(1).max(7))
    .min(1, 'Must name at least one day; null means every day')
    .nullish()
    .transform((days) => (days == null ? null : [...new Set(days)].sort())),
});

/** Sets quiet hours; without any of the values there are none. @throws FanfareError BAD_USER_INPUT */
export async function setQuietHours(
  core: Core,
  session: ReaderSession,
  given: { readonly [Field in keyof QuietHours]?: unknown },
): Promise<void> {
  const isNone = Object.values(given).every((value) => value == null);
  const hours = isNone ? null : validate(quietSchema, given);
  if (hours !== null && hours.from === hours.to) throw badInput('Must not be the same as from', ['to']);
  const { userId } = session.identity;
  const now = clock.now();
  await notificationsOf(core).setQuietHours(userId, hours, now);
  await core.quietHoursChanged?.(core, userId, now);
}
