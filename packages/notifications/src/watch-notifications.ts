import type { Core } from '../../../src/features/core.ts';
import type { Action, ActionId } from '../../../src/domain/action.ts';
import { notifiedKey, userKey } from '../../../src/domain/audience.ts';
import { notificationKey, type NotificationKind } from '../../../src/domain/notification.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { ACTION } from '../../../src/feed/session/load.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { EndSignal } from '../../../src/lib/closer.ts';
import type { LiveEvent, LiveMessage } from '../../../src/live/live-log.ts';
import type { UnreadCount } from '../../../src/features/shapes.ts';
import {
  checkNotificationFilter,
  findNotifications,
  passes,
  readNotifications,
  type Notification,
  type NotificationFilter,
} from './read-notifications.ts';

/** What a watcher of notifications receives, after the rules. */
export type NotificationEvent =
  | { readonly kind: 'ready'; readonly cursor: string }
  | {
      readonly kind: 'added' | 'updated';
      readonly cursor: string;
      readonly notification: Notification;
      /** The data it was decided with; its other fields are rendered with it, too. */
      readonly session: ReaderSession;
    }
  | { readonly kind: 'removed'; readonly cursor: string; readonly userId: string; readonly key: string }
  | {
      readonly kind: 'counts';
      readonly cursor: string;
      readonly unseen: UnreadCount;
      readonly unread: UnreadCount;
    }
  | { readonly kind: 'resync'; readonly cursor: string; readonly reason: string };

type Counts = Pick<Extract<NotificationEvent, { kind: 'counts' }>, 'unseen' | 'unread'>;

export interface WatchNotificationsArgs {
  readonly after?: string | null | undefined;
  readonly filter?: NotificationFilter | null | undefined;
  /** Also report changes of the counts of the whole list. */
  readonly withCounts?: boolean | undefined;
  /** Ends the stream without an error. */
  readonly signal: EndSignal;
}

/** Messages that are decided together. */
const MOST_AT_ONCE = 100;
const NAMING: readonly NotificationKind[] = ['MENTION', 'OWN'];

/**
 * Follows changes of the reader's notifications, from the log of their feed. A message only says which to examine: they are read
 * when they are sent, by the rules of the list. The protocol is that of feeds; see live/README.md.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchNotifications(
  core: Core,
  identity: Identity,
  { after, filter, withCounts = false, signal }: WatchNotificationsArgs,
): Promise<AsyncIterable<NotificationEvent>> {
  const checked = checkNotificationFilter(filter);
  const { userId } = identity;
  const messages = await core.liveLog.watch({ userId, signal, ...(after == null ? {} : { after }) });
  return follow();

  async function* follow(): AsyncGenerator<NotificationEvent, void> {
    let sent: Counts | null = null;
    for await (const message of messages) {
      if (message.kind !== 'event') {
        yield message;
        // A watcher that resumes may have missed a count, and a list that is read again has its own.
        sent = null;
        if (message.kind === 'ready' && after == null) continue;
      } else {
        const batch = [message, ...messages.takeEvents(MOST_AT_ONCE - 1)];
        const events = await decide(core, openSession(core, identity), checked, batch);
        if (events === null) continue;
        yield* events;
      }
      if (!withCounts) continue;
      const counts = await count(core, openSession(core, identity));
      const { cursor } = message;
      if (!isSame(counts, sent)) yield { kind: 'counts', cursor, ...counts };
      sent = counts;
    }
  }
}

type EventMessage = Extract<LiveMessage, { kind: 'event' }>;

/**
 * What the message is about: keys of notifications, which are gone (`isGone`) if they are not found; a reason to read everything
 * again; `null`: not about notifications.
 */
function examined(
  event: LiveEvent,
  named: ReadonlySet<ActionId>,
): { readonly keys: readonly string[]; readonly isGone: boolean } | string | null {
  switch (event.kind) {
    case 'list':
      // Marks of the feed are others.
      return event.change === 'marks' ? null : event.change;
    case 'notification': {
      const { of, kinds } = event;
      if (of === '') return kinds.length === 0 ? 'marks' : 'followers';
      return { keys: kinds.map((kind) => `${kind}:${of}`), isGone: true };
    }
    case 'removed':
      // All kinds that actions of others have: that one's own is gone is signalled.
      return { keys: keysOf([...NAMING, 'REPLY'], event.actionId), isGone: true };
    case 'added':
    case 'updated':
      return named.has(event.actionId) ? { keys: keysOf(NAMING, event.actionId), isGone: false } : null;
  }
}

function keysOf(kinds: readonly NotificationKind[], actionId: string): string[] {
  return kinds.map((kind) => notificationKey(kind, actionId));
}

/** Of the entries that were added to the feed or changed there, the actions that name the reader: only they are notifications. */
async function namesReader(
  session: ReaderSession,
  messages: readonly EventMessage[],
): Promise<ReadonlySet<ActionId>> {
  const { userId } = session.identity;
  const ids = messages.flatMap(({ event }) =>
    event.kind === 'added' || event.kind === 'updated' ? [event.actionId] : [],
  );
  const actions = await session.loadMany(ACTION, [...new Set(ids)]);
  const isNamed = ({ audience }: Action): boolean =>
    audience.includes(userKey(userId)) || audience.includes(notifiedKey(userId));
  return new Set(actions.flatMap((action) => (action !== null && isNamed(action) ? [action.id] : [])));
}

/**
 * One set of reads for all messages; one command if they are only about actions that do not name the reader. Each notification
 * is sent once, with the cursor of the last message about it. `null`: no message is about notifications.
 */
async function decide(
  core: Core,
  session: ReaderSession,
  filter: NotificationFilter,
  messages: readonly EventMessage[],
): Promise<NotificationEvent[] | null> {
  const { userId } = session.identity;
  const named = await namesReader(session, messages);
  const asked = new Map<string, { readonly cursor: string; readonly isGone: boolean }>();
  let resync: NotificationEvent | null = null;
  for (const { cursor, event } of messages) {
    const about = examined(event, named);
    if (typeof about === 'string') resync = { kind: 'resync', cursor, reason: about };
    if (about === null || typeof about === 'string') continue;
    for (const key of about.keys) {
      const isGone = about.isGone || asked.get(key)?.isGone === true;
      // Moved behind the others, so that cursors only go forward.
      asked.delete(key);
      asked.set(key, { cursor, isGone });
    }
  }
  // A client that reads the list again has all of this.
  if (resync !== null) return [{ ...resync, cursor: messages.at(-1)?.cursor ?? resync.cursor }];
  if (asked.size === 0) return null;
  const keys = [...asked.keys()];
  const found = await findNotifications(core, session, keys);
  return keys.flatMap((key, index): NotificationEvent[] => {
    const { cursor, isGone } = asked.get(key) ?? { cursor: '', isGone: false };
    const notification = found[index] ?? null;
    if (notification === null || !passes(filter, notification))
      return isGone ? [{ kind: 'removed', cursor, userId, key }] : [];
    const kind = notification.group.events.length === 1 ? 'added' : 'updated';
    return [{ kind, cursor, notification, session }];
  });
}

async function count(core: Core, session: ReaderSession): Promise<Counts> {
  const page = await readNotifications(core, session, { first: 1, withCounts: true });
  const [unseen, unread] = await Promise.all([page.countUnseen(), page.countUnread()]);
  return { unseen, unread };
}

function isSame(a: Counts, b: Counts | null): boolean {
  return b !== null && JSON.stringify(a) === JSON.stringify(b);
}
