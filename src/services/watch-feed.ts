import type { Identity } from '../domain/viewer.ts';
import type { LiveLog, LiveMessage } from '../realtime/live-log.ts';
import { hydrateEntries, presentEntry } from './feed-rules.ts';
import { checkFeedFilter, passesFeedFilter, type CheckedFeedFilter } from './filters.ts';
import type { ReaderSession } from './reader-session.ts';
import type { FeedEvent, WatchArgs } from './services.ts';

export interface WatchFeedDependencies {
  readonly liveLog: Pick<LiveLog, 'watch'>;
  /** A fresh session: what it has loaded must not outlive one event. */
  readonly openSession: (identity: Identity) => ReaderSession;
}

/**
 * Follows the reader's feed as it changes. Whether a change is shown is decided when it is sent, by the rules of the
 * feed query.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchFeed(
  { liveLog, openSession }: WatchFeedDependencies,
  identity: Identity,
  args: WatchArgs,
): Promise<AsyncIterable<FeedEvent>> {
  const filter = checkFeedFilter(args.filter);
  const messages = await liveLog.watch({
    userId: identity.userId,
    signal: args.signal,
    ...(args.after == null ? {} : { after: args.after }),
  });
  return presentMessages(messages, (message) => present(openSession(identity), filter, message));
}

async function* presentMessages(
  messages: AsyncIterable<LiveMessage>,
  toEvent: (message: LiveMessage) => Promise<FeedEvent | null>,
): AsyncGenerator<FeedEvent, void, undefined> {
  for await (const message of messages) {
    const event = await toEvent(message);
    if (event !== null) yield event;
  }
}

async function present(
  session: ReaderSession,
  filter: CheckedFeedFilter,
  message: LiveMessage,
): Promise<FeedEvent | null> {
  if (message.kind !== 'event') return message;
  const { cursor, event } = message;
  const userId = session.identity.userId;
  if (event.kind === 'removed') return { kind: 'removed', cursor, userId, actionId: event.actionId };
  const [profile, [facts]] = await Promise.all([session.profile(), hydrateEntries(session, [event])]);
  const item = facts === undefined ? null : presentEntry(profile, facts);
  if (item === null || !passesFeedFilter(filter, item)) return null;
  return { kind: event.kind, cursor, item };
}
