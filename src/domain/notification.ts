import type { ActionId, RefId, UserId } from './action.ts';
import type { InteractionId } from './interaction.ts';
import { isBlocked } from './block.ts';
import { isMutedPerson } from './mute.ts';
import { shownSince } from './relevancy.ts';
import type { ReaderProfile } from './viewer.ts';

/** Kinds with a sentence of their own. OWN has that of its action. */
export const SPOKEN_KINDS = [
  'COMMENT',
  'REPLY',
  'MENTION',
  'LIKE',
  'REACTION',
  'RESHARE',
  'FOLLOW',
  'ASSIGNED',
] as const;
export type SpokenKind = (typeof SPOKEN_KINDS)[number];

export const NOTIFICATION_KINDS = [...SPOKEN_KINDS, 'OWN'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** The kind of notification of an action that names a member. */
export function namingKind(isNotified: boolean): 'OWN' | 'MENTION' {
  return isNotified ? 'OWN' : 'MENTION';
}

/** Kinds of notifications about actions. */
export const KINDS_ABOUT_ACTIONS = NOTIFICATION_KINDS.filter(
  (kind) => kind !== 'FOLLOW' && kind !== 'ASSIGNED',
);

/**
 * A sentence to the reader for each kind, as ICU messages: `{actor}` is the list of members, `{subjects}` their number, for
 * words that must agree with it. `{ref}` is what the reader was assigned to.
 */
export type NotificationMessages = Readonly<Partial<Record<SpokenKind, string>>>;

export const CHANNELS = ['IN_APP', 'EMAIL', 'PUSH'] as const;
export type Channel = (typeof CHANNELS)[number];

/** The fields that decide since when an action is news. */
export interface NamingAction {
  readonly conducted: Date;
  readonly recorded: Date;
  /** When a moderator showed it. */
  readonly shownAt?: Date;
}

/** Since when an action is news for somebody whom it names. @param since when an edit named them. */
export function namedSince({ conducted, recorded, shownAt }: NamingAction, since?: Date): Date {
  const named = since ?? shownSince(conducted, recorded);
  return shownAt === undefined || shownAt < named ? named : shownAt;
}

/** How long an event stays in the list of notifications. */
export const NOTIFICATION_WINDOW_MS = 90 * 86_400_000;

/** Counts of notifications, of their events and of their actors are exact up to this number. */
export const MAX_COUNTED = 100;

/** Something that somebody did and that concerns the reader. */
export interface NotificationEvent {
  /** The id of the interaction, the action or the follow. */
  readonly id: string;
  /** `null`: a service did it. */
  readonly actorId: UserId | null;
  /** When the reader could see it, whenever it happened. */
  readonly at: Date;
  readonly interactionId: InteractionId | null;
}

/** Events of one kind about one action; follows of one day; one assignment. */
export interface NotificationGroup {
  readonly key: string;
  readonly kind: NotificationKind;
  /** `null`: it is about no action. */
  readonly actionId: ActionId | null;
  /** The thing that the reader was assigned to. */
  readonly refId: RefId | null;
  /** Time of its newest event. */
  readonly at: Date;
  /** Newest first; at most 101. */
  readonly events: readonly NotificationEvent[];
}

export type NotificationPosition = Pick<NotificationGroup, 'at' | 'key'>;

const OBJECT_ID = /^[0-9a-f]{24}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** The subject of a group: an action, a day, or a follow. */
export function notificationKey(kind: NotificationKind, of: ActionId | Date): string {
  return `${kind}:${typeof of === 'string' ? of : of.toISOString().slice(0, 10)}`;
}

export interface ParsedKey {
  readonly kind: NotificationKind;
  readonly of: string;
}

/** `null`: no notification has this key. */
export function parseNotificationKey(key: string): ParsedKey | null {
  const [name, of = '', ...rest] = key.split(':');
  const kind = NOTIFICATION_KINDS.find((one) => one === name);
  if (kind === undefined || rest.length > 0) return null;
  const isKnown = kind === 'FOLLOW' ? isDay(of) : OBJECT_ID.test(of);
  return isKnown ? { kind, of } : null;
}

function isDay(text: string): boolean {
  const time = DAY.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Newest first; ties in an order that is the same for all reads. */
export function compareNotifications(a: NotificationPosition, b: NotificationPosition): number {
  return b.at.getTime() - a.at.getTime() || (a.key < b.key ? -1 : a.key === b.key ? 0 : 1);
}

/**
 * The members whom the reader keeps out of their notifications: members whom they mute, or with whom there is a block, as far as it is
 * known.
 */
export function keptAway({ mutes, blocks }: ReaderProfile): UserId[] {
  return [...mutes.members, ...mutes.refs, ...blocks.known];
}

/** Whether the member is one of them. */
export function isKeptAway(reader: ReaderProfile, actorId: UserId | null): boolean {
  return actorId !== null && (isMutedPerson(reader.mutes, actorId) || isBlocked(reader, actorId));
}

/** How far a reader has seen and read their notifications. */
export interface NotificationMarks {
  readonly seenAt: Date | null;
  readonly readAt: Date | null;
  /** Up to where single groups were read, by key. */
  readonly read: ReadonlyMap<string, Date>;
}

export function isSeen({ seenAt }: NotificationMarks, { at }: NotificationPosition): boolean {
  return seenAt !== null && at.getTime() <= seenAt.getTime();
}

export function isReadThrough({ readAt }: NotificationMarks, { at }: NotificationPosition): boolean {
  return readAt !== null && at.getTime() <= readAt.getTime();
}

/** A new event makes a group unread again. */
export function isRead(marks: NotificationMarks, position: NotificationPosition): boolean {
  const own = marks.read.get(position.key);
  return isReadThrough(marks, position) || (own !== undefined && position.at.getTime() <= own.getTime());
}

/** Upper bound on preferences that a member has set. */
export const MAX_PREFERENCES = 500;

/** The subject of a preference: a kind of events, or events about actions of one type. */
export interface PreferenceTarget {
  readonly kind: NotificationKind;
  /** `null`: actions of all types, and events without an action. */
  readonly type: string | null;
  readonly channel: Channel;
}

export interface Preference extends PreferenceTarget {
  readonly isOn: boolean;
}

/** A default of the host. */
export interface HostPreference extends Preference {
  /** Members cannot change it. */
  readonly isLocked: boolean;
}

export interface EffectivePreference extends Preference {
  readonly isLocked: boolean;
}

function find<P extends Preference>(
  all: readonly P[],
  { kind, type, channel }: PreferenceTarget,
): P | undefined {
  const of = (wanted: string | null): P | undefined =>
    all.find((one) => one.kind === kind && one.channel === channel && one.type === wanted);
  return (type === null ? undefined : of(type)) ?? of(null);
}

/**
 * Whether a member is notified of events by a channel. A locked default counts first, then what the member chose, then the host's default;
 * of each, what is said about the type before what is said about all. Otherwise mail is off, and all else is on.
 */
export function preferenceOf(
  host: readonly HostPreference[],
  own: readonly Preference[],
  target: PreferenceTarget,
): EffectivePreference {
  const standard = find(host, target);
  if (standard?.isLocked === true) return { ...target, isOn: standard.isOn, isLocked: true };
  const isOn = find(own, target)?.isOn ?? standard?.isOn ?? target.channel !== 'EMAIL';
  return { ...target, isOn, isLocked: false };
}

/** All preferences of a member: of each kind and channel, and of each type that has one of its own. */
export function preferencesOf(
  host: readonly HostPreference[],
  own: readonly Preference[],
): EffectivePreference[] {
  const said = [...host, ...own];
  return NOTIFICATION_KINDS.flatMap((kind) =>
    CHANNELS.flatMap((channel) => {
      const ofBoth = said.filter((one) => one.kind === kind && one.channel === channel);
      const types = [...new Set(ofBoth.flatMap(({ type }) => type ?? []))].sort();
      return [null, ...types].map((type) => preferenceOf(host, own, { kind, type, channel }));
    }),
  );
}

/** Hours of the day in which a member wants neither mail nor push messages. */
export interface QuietHours {
  /** Such as `22:00`. */
  readonly from: string;
  readonly to: string;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Days on which they begin, Monday is 1; `null`: every day. */
  readonly days: readonly number[] | null;
}
