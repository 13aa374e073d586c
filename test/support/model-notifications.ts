import { notificationsOf } from '../../parts/notifications/src/store/notifications.ts';
import type { NotificationKind } from '../../src/domain/notification.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { Notification, NotificationFilter } from '../../parts/notifications/src/read-notifications.ts';
import {
  isBlocked,
  maySee,
  type Model,
  type ModelAction,
  type ModelInteraction,
  type ModelReader,
} from './model.ts';
import { readAll } from './model-action-views.ts';
import { during, expectOutcome, session, type Run, type StepTo } from './model-run.ts';
import type { Services } from './services.ts';

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
    const at = Math.max(first, shownAt ?? -Infinity, action.concernedPeople.get(userId) ?? -Infinity);
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

type Label = (id: string) => string;

const ofExpected = (label: Label, one: ModelNotification): unknown => ({
  ...{ kind: one.kind, of: one.action === null ? (one.refId ?? one.of) : label(one.of) },
  ...{ at: new Date(one.at).toISOString(), actors: one.actors, count: one.count },
  ...{ isSeen: one.isSeen, isRead: one.isRead },
});

const ofActual = (label: Label, { group, isSeen, isRead }: Notification): unknown => ({
  ...{
    kind: group.kind,
    of: group.actionId === null ? (group.refId ?? group.key.slice(7)) : label(group.actionId),
  },
  ...{
    at: group.at.toISOString(),
    actors: [...new Set(group.events.flatMap(({ actorId }) => actorId ?? []))].sort(),
  },
  ...{ count: group.events.length, isSeen, isRead },
});

interface FilterCase {
  readonly filter: NotificationFilter;
  readonly passes: (one: ModelNotification) => boolean;
}

function filtersFor(all: readonly ModelNotification[]): Readonly<Record<string, FilterCase>> {
  const middle = all[Math.floor(all.length / 2)]?.at ?? 0;
  return {
    all: { filter: {}, passes: () => true },
    unread: { filter: { unreadOnly: true }, passes: ({ isRead }) => !isRead },
    kinds: {
      filter: { kinds: ['COMMENT', 'FOLLOW'] },
      passes: ({ kind }) => kind === 'COMMENT' || kind === 'FOLLOW',
    },
    since: { filter: { since: new Date(middle) }, passes: ({ at }) => at >= middle },
    until: { filter: { until: new Date(middle) }, passes: ({ at }) => at < middle },
  };
}

const counted = (count: number): unknown => ({ count, isExact: true });

/** What the definition says is in the list, in all ways. */
export function expectedNotifications(model: Model, reader: ModelReader, label: Label): unknown {
  const all = notificationsFor(model, reader);
  return {
    ...Object.fromEntries(
      Object.entries(filtersFor(all)).map(([name, { passes }]) => {
        const some = all.filter(passes);
        return [
          name,
          {
            list: some.map((one) => ofExpected(label, one)),
            unseen: counted(some.filter(({ isSeen }) => !isSeen).length),
            unread: counted(some.filter(({ isRead }) => !isRead).length),
          },
        ];
      }),
    ),
    byId: all.map((one) => ofExpected(label, one)),
  };
}

/** What the server shows, page by page, with the counts of the first, and each by its id. */
export async function actualNotifications(
  services: Services,
  reader: ReaderSession,
  {
    label,
    pageSize,
    expected,
  }: { readonly label: Label; readonly pageSize: number; readonly expected: readonly ModelNotification[] },
): Promise<unknown> {
  const views: Record<string, unknown> = {};
  for (const [name, { filter }] of Object.entries(filtersFor(expected))) {
    const list = await readAll((args) => services.readNotifications(reader, { ...args, filter }), pageSize);
    const page = await services.readNotifications(reader, { first: pageSize, filter, withCounts: true });
    views[name] = {
      list: list.map((one) => ofActual(label, one)),
      unseen: await page.countUnseen(),
      unread: await page.countUnread(),
    };
  }
  const found = await services.findNotifications(
    reader,
    expected.map(({ key }) => key),
  );
  views['byId'] = found.map((one) => (one === null ? null : ofActual(label, one)));
  return views;
}

/** A number picks one of the list; `all`: everything until now. */
export async function markNotifications(
  run: Run,
  { do: what, by, upTo }: StepTo<'seeNotifications' | 'readNotifications' | 'readNotification'>,
): Promise<void> {
  const reader = run.reader(by);
  const all = notificationsFor(run.model, reader);
  const one = upTo === 'all' ? undefined : all[upTo % Math.max(1, all.length)];
  const { services } = run.parts;
  const { notifications: marks } = reader;
  if (what === 'readNotification') {
    if (one === undefined) return;
    await services.markNotificationsRead(session(run, by), { upTo: null, keys: [one.key] });
    marks.read.set(one.key, one.at);
    return;
  }
  const until = new Date(one?.at ?? Date.now() + 60_000);
  const isSeen = what === 'seeNotifications';
  const { instant } = await during(() =>
    isSeen
      ? services.markNotificationsSeen(session(run, by), until)
      : services.markNotificationsRead(session(run, by), { upTo: until, keys: [] }),
  );
  const stored = await notificationsOf(run.parts.repositories).state(reader.userId);
  const at = one?.at ?? instant((isSeen ? stored.seenAt : stored.readAt) ?? undefined);
  if (isSeen) marks.seenAt = Math.max(marks.seenAt ?? 0, at);
  else marks.readAt = Math.max(marks.readAt ?? 0, at);
}

export async function preferNotifications(run: Run, step: StepTo<'preferNotifications'>): Promise<void> {
  const { by, kind, type, isOn } = step;
  await expectOutcome(
    run.parts.services.setNotificationPreferences(session(run, by), [
      { kind, type, channel: 'IN_APP', isOn },
    ]),
    null,
  );
  run.reader(by).notifications.preferences.set(`${kind} ${type ?? ''}`, isOn);
}
