import type { Core } from '../../../src/core/core.ts';
import { notificationKey, type NotificationKind } from '../../../src/domain/notification.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { ValueWatch } from '../../../src/feed/watch/value-watch.ts';
import { OnDispose, type EndSignal } from '../../../src/lib/closer.ts';
import { cursorWithin, splitCursor, type LiveEvent, type LiveMessage } from '../../../src/live/live-log.ts';
import type { UnreadCount } from '../../../src/core/shapes.ts';
import { NotificationFilter, type NotificationFilterInput } from './filter.ts';
import type { Notification } from './groups.ts';
import { findNotifications, readNotifications } from './read-notifications.ts';

/** Events for a watcher of notifications, after the rules. */
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
  readonly filter?: NotificationFilterInput | null | undefined;
  /** Also report changes of the counts of the whole list. */
  readonly withCounts?: boolean | undefined;
  /** Ends the stream without an error. */
  readonly signal: EndSignal;
}

/** Messages that are decided together. */
const MOST_AT_ONCE = 100;
const OF_OTHERS: readonly NotificationKind[] = ['MENTION', 'OWN', 'REPLY'];

/**
 * Follows changes of the reader's notifications, from the log of their feed. A message only says which to examine: they are read
 * when they are sent, by the rules of the list. The protocol is that of feeds; see live/README.md.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchNotifications(
  core: Core,
  identity: ReaderSession['identity'],
  { after, filter, withCounts = false, signal }: WatchNotificationsArgs,
): Promise<AsyncIterable<NotificationEvent>> {
  const checked = new NotificationFilter(filter);
  const { userId } = identity;
  const messages = await core.liveLog.watch({ userId, signal, ...(after == null ? {} : { after }) });
  return follow();

  async function* follow(): AsyncGenerator<NotificationEvent, void> {
    using counts = withCounts
      ? new ValueWatch({ read: () => count(core, openSession(core, identity)), isSame, signal })
      : null;
    let place = { before: '', parts: 0 };
    let next: Promise<IteratorResult<LiveMessage, unknown>> | null = null;
    using _watch = new OnDispose(() => void messages.return?.());
    for (;;) {
      next ??= messages.next();
      const result = await (counts === null ? next : Promise.race([counts.ready(), next]));
      if (result === 'value') {
        const changed = counts?.take() ?? null;
        // Everything up to there has been sent.
        if (changed !== null)
          yield { kind: 'counts', cursor: cursorWithin(place.before, place.parts), ...changed.value };
        continue;
      }
      next = null;
      if (result.done === true) return;
      const message = result.value;
      if (message.kind !== 'event') {
        place = splitCursor(message.cursor);
        yield message;
        // A watcher that resumes may have missed a count, and a list that is read again has its own.
        if (message.kind !== 'ready' || after != null) counts?.restart();
        continue;
      }
      const batch = [message, ...messages.takeEvents(MOST_AT_ONCE - 1)];
      const events = await decide(core, openSession(core, identity), checked, batch, place);
      place = { before: batch.at(-1)?.cursor ?? message.cursor, parts: 0 };
      if (events === null) continue;
      yield* events;
      // A client that opens its list takes all for seen at once: a number may be news to it that was sent before.
      if (events.some(({ kind }) => kind === 'resync')) counts?.restart();
      else counts?.touch();
    }
  }
}

type EventMessage = Extract<LiveMessage, { kind: 'event' }>;

/** Keys of the notifications that the message is about; a reason to read everything again; `null`: not about notifications. */
function examined(event: LiveEvent): readonly string[] | string | null {
  switch (event.kind) {
    case 'list':
      // Marks of the feed are others.
      return event.change === 'marks' ? null : event.change;
    case 'notification': {
      const { of, kinds } = event;
      if (of === '') return kinds.length === 0 ? 'marks' : 'followers';
      return kinds.map((kind) => notificationKey(kind, of));
    }
    case 'removed':
      // All kinds that actions of others have: that one's own is gone is signalled.
      return OF_OTHERS.map((kind) => notificationKey(kind, event.actionId));
    case 'added':
    case 'updated':
    case 'interaction':
      // Members whom the action names are signalled.
      return null;
  }
}

/** Where a watcher is: after this event, and after so many of the messages that the next one makes. */
type Place = ReturnType<typeof splitCursor>;

/**
 * The keys that the messages are about, each once, at the place of the last message about it. Each has a cursor of its own, also
 * those of one message: a client that is cut between them continues there. A text: everything must be read again; then why.
 */
function askedBy(messages: readonly EventMessage[], place: Place): ReadonlyMap<string, string> | string {
  const about = messages.map(({ event }) => examined(event));
  const resync = about.findLast((one) => typeof one === 'string');
  if (typeof resync === 'string') return resync;
  const asked = new Map<string, { readonly index: number; readonly part: number }>();
  for (const [index, one] of about.entries()) {
    if (one === null || typeof one === 'string') continue;
    for (const [part, key] of one.entries()) {
      if (index === 0 && part < place.parts) continue;
      // Moved behind the others, so that cursors only go forward.
      asked.delete(key);
      asked.set(key, { index, part });
    }
  }
  const lastParts = new Map(Array.from(asked.values(), ({ index, part }) => [index, part]));
  const cursorOf = (index: number): string => messages[index]?.cursor ?? place.before;
  return new Map(
    Array.from(asked, ([key, { index, part }]) => {
      const isLast = lastParts.get(index) === part;
      const cursor = isLast ? cursorOf(index) : cursorWithin(cursorOf(index - 1), part + 1);
      return [key, cursor];
    }),
  );
}

/**
 * One set of reads for all messages. Each notification is sent once. `null`: no message is about notifications; then nothing is read.
 */
async function decide(
  core: Core,
  session: ReaderSession,
  filter: NotificationFilter,
  messages: readonly EventMessage[],
  place: Place,
): Promise<NotificationEvent[] | null> {
  const { userId } = session.identity;
  const asked = askedBy(messages, place);
  // A client that reads the list again has all of this.
  if (typeof asked === 'string')
    return [{ kind: 'resync', reason: asked, cursor: messages.at(-1)?.cursor ?? place.before }];
  if (asked.size === 0) return null;
  const found = await findNotifications(core, session, [...asked.keys()]);
  return Array.from(asked, ([key, cursor], index): NotificationEvent => {
    const notification = found[index] ?? null;
    if (notification === null || !filter.passes(notification))
      return { kind: 'removed', cursor, userId, key };
    const kind = notification.group.events.length === 1 ? 'added' : 'updated';
    return { kind, cursor, notification, session };
  });
}

async function count(core: Core, session: ReaderSession): Promise<Counts> {
  const page = await readNotifications(core, session, { first: 1, withCounts: true });
  const [unseen, unread] = await Promise.all([page.countUnseen(), page.countUnread()]);
  return { unseen, unread };
}

function isSame(a: Counts, b: Counts): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
