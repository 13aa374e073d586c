import type { Identity } from '../domain/viewer.ts';
import type { LiveLog, LiveMessage } from '../realtime/live-log.ts';
import { beginReading, type BeginReadingDependencies } from './begin-reading.ts';
import { hydrateEntries, presentEntry } from './feed-rules.ts';
import { checkFeedFilter, passesFeedFilter, type CheckedFeedFilter } from './filters.ts';
import type { ReaderSession } from './reader-session.ts';
import type { FeedEvent, UnreadCount, WatchArgs } from './services.ts';
import { UnreadWatch } from './unread-watch.ts';

export interface WatchFeedDependencies {
  readonly liveLog: Pick<LiveLog, 'watch'>;
  /** A fresh session: what it has loaded must not outlive one event. */
  readonly openSession: (identity: Identity) => ReaderSession;
  readonly reading: BeginReadingDependencies;
  /** Counts by a read that begins after the call. */
  readonly countUnread: (identity: Identity) => Promise<UnreadCount>;
}

/**
 * Follows the reader's feed as it changes. Whether a change is shown is decided when it is sent, by the rules of the
 * feed query. What is sent when is said in realtime/README.md.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchFeed(
  { liveLog, openSession, countUnread, reading }: WatchFeedDependencies,
  identity: Identity,
  args: WatchArgs,
): Promise<AsyncIterable<FeedEvent>> {
  const filter = checkFeedFilter(args.filter);
  const { signal, after = null } = args;
  await beginReading(reading, openSession(identity));
  const messages = await liveLog.watch({
    userId: identity.userId,
    signal,
    ...(after === null ? {} : { after }),
  });
  return follow(messages, {
    present: (message) => present(openSession(identity), filter, message),
    openUnread: () =>
      args.withUnread === true ? new UnreadWatch({ count: () => countUnread(identity), signal }) : null,
    isResumed: after !== null,
  });
}

interface FollowOptions {
  readonly present: (message: LiveMessage) => Promise<FeedEvent | null>;
  readonly openUnread: () => UnreadWatch | null;
  readonly isResumed: boolean;
}

/** The messages as events and, between them, the count whenever it has changed. Takes nothing before it is asked for more. */
async function* follow(
  messages: AsyncIterable<LiveMessage>,
  { present: toEvent, openUnread, isResumed }: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  using unread = openUnread();
  const incoming = messages[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<LiveMessage, unknown>> | null = null;
  let cursor = '';
  try {
    for (;;) {
      next ??= incoming.next();
      // The count first: it comes a few times a second at most, messages may come without an end.
      const result = unread === null ? await next : await Promise.race([unread.ready(), next]);
      if (result === 'unread') {
        const count = unread?.take() ?? null;
        // With the cursor of the last message: everything up to there has been sent.
        if (count !== null) yield { kind: 'unread', cursor, unread: count };
        continue;
      }
      next = null;
      if (result.done === true) return;
      const event = await toEvent(result.value);
      cursor = result.value.cursor;
      if (unread !== null) note(unread, result.value, isResumed);
      if (event !== null) yield event;
    }
  } finally {
    await incoming.return?.();
  }
}

function note(unread: UnreadWatch, { kind }: LiveMessage, isResumed: boolean): void {
  // Who comes back may have been told of the last event and not of the count after it.
  if (kind === 'event' || (kind === 'ready' && isResumed)) unread.touch();
  // The client queries the feed now, and the count with it.
  if (kind === 'resync') unread.forget();
}

async function present(
  session: ReaderSession,
  filter: CheckedFeedFilter,
  message: LiveMessage,
): Promise<FeedEvent | null> {
  if (message.kind !== 'event') return message;
  const { cursor, event } = message;
  if (event.kind === 'marks') return null;
  const userId = session.identity.userId;
  if (event.kind === 'removed') return { kind: 'removed', cursor, userId, actionId: event.actionId };
  const [facts] = await hydrateEntries(session, [event]);
  const profile = await session.profile();
  const item = facts === undefined ? null : presentEntry(profile, facts);
  if (item === null || !passesFeedFilter(filter, item)) return null;
  return { kind: event.kind, cursor, item, session };
}
