import type { NotificationKind } from '../../src/domain/notification.ts';
import {
  isBlocked,
  maySee,
  type Model,
  type ModelAction,
  type ModelInteraction,
  type ModelReader,
} from './model.ts';

// What concerns a reader, as plainly as it can be written down.

/** Something that somebody did. */
export interface ModelEvent {
  readonly kind: NotificationKind;
  readonly action: ModelAction | null;
  /** What groups are made of: the action, the day, or the follow. */
  readonly of: string;
  readonly refId: string | null;
  /** Null: a service. */
  readonly actorId: string | null;
  /** When the member could see it, whenever it happened. */
  readonly at: number;
}

export interface ModelNotification extends Pick<ModelEvent, 'kind' | 'action' | 'of' | 'refId' | 'at'> {
  readonly key: string;
  readonly actors: readonly string[];
  readonly count: number;
  readonly isSeen: boolean;
  readonly isRead: boolean;
}

const DAY = 86_400_000;
const WINDOW = 90 * DAY;

/** By what an interaction concerns a member; null: it does not. */
function kindOf(userId: string, action: ModelAction, interaction: ModelInteraction): NotificationKind | null {
  if (interaction.actorId === userId) return null;
  if (interaction.mentions.includes(userId)) return 'MENTION';
  const parent = action.interactions.find(({ id }) => id === interaction.parentId);
  if (parent?.actorId === userId) return 'REPLY';
  return action.actorId === userId ? interaction.kind : null;
}

/** Every event that concerns a member. */
export function concerns(model: Model, userId: string): ModelEvent[] {
  const events: ModelEvent[] = [];
  for (const action of model.actions) {
    const of = { action, of: action.id, refId: null };
    const isInVain = action.namedInVain.has(userId);
    const isNamed = action.mentions.includes(userId) || action.recipients.includes(userId);
    const { conducted, recorded, shownAt } = action;
    const first = conducted < recorded - DAY ? conducted : recorded;
    // An edit may be earlier by its clock than the publication by another one's.
    const since = action.concernedPeople.get(userId) ?? -Infinity;
    const at = Math.max(since === -Infinity ? first : since, shownAt ?? -Infinity);
    const isAsked = action.asked === userId;
    if ((isAsked || isNamed) && !isInVain && action.actorId !== userId)
      events.push({ kind: isAsked ? 'OWN' : 'MENTION', ...of, actorId: action.actorId, at });
    for (const interaction of action.interactions) {
      const kind = kindOf(userId, action, interaction);
      if (kind !== null && interaction.state === 'VISIBLE')
        events.push({ kind, ...of, actorId: interaction.actorId, at: interaction.shownAt });
    }
  }
  for (const { id, followerId, refId, isActive, openedAt, assignedAt } of model.follows) {
    if (refId === userId && followerId !== userId && isActive && openedAt !== null) {
      const day = new Date(openedAt).toISOString().slice(0, 10);
      events.push({ kind: 'FOLLOW', action: null, of: day, refId: null, actorId: followerId, at: openedAt });
    }
    if (followerId === userId && assignedAt !== null)
      events.push({ kind: 'ASSIGNED', action: null, of: id, refId, actorId: null, at: assignedAt });
  }
  return events;
}

function isListed(model: Model, reader: ModelReader, { kind, action, actorId, at }: ModelEvent): boolean {
  if (at < Date.now() - WINDOW) return false;
  if (action !== null && (action.isHidden || !maySee(model, reader, action))) return false;
  const isMuted = reader.mutes.some(
    (mute) => (mute.kind === 'MEMBER' || mute.kind === 'REF') && mute.value === actorId,
  );
  const isAway = isMuted || (actorId !== null && isBlocked(model, reader, actorId));
  const { preferences } = reader.notifications;
  const isOn = preferences.get(`${kind} ${action?.type ?? ''}`) ?? preferences.get(`${kind} `) ?? true;
  return !isAway && isOn;
}

/** The reader's list. */
export function notificationsFor(model: Model, reader: ModelReader): ModelNotification[] {
  const groups = new Map<string, ModelEvent[]>();
  for (const event of concerns(model, reader.userId))
    if (isListed(model, reader, event)) {
      const key = `${event.kind}:${event.of}`;
      groups.set(key, [...(groups.get(key) ?? []), event]);
    }
  const { seenAt, readAt, read } = reader.notifications;
  return Array.from(groups, ([key, events]): ModelNotification => {
    const newest = [...events].sort((a, b) => b.at - a.at);
    const [first] = newest;
    if (first === undefined) throw new Error('A group has an event at least');
    const { kind, action, of, refId, at } = first;
    return {
      ...{ key, kind, action, of, refId, at },
      actors: [...new Set(newest.flatMap(({ actorId }) => actorId ?? []))].sort(),
      count: events.length,
      isSeen: at <= (seenAt ?? -Infinity),
      isRead: at <= Math.max(readAt ?? -Infinity, read.get(key) ?? -Infinity),
    };
  }).sort((a, b) => b.at - a.at || (a.key < b.key ? -1 : 1));
}
