import type { Identity } from '../../../domain/viewer.ts';
import type { LiveLog } from '../../../realtime/live-log.ts';
import { beginReading } from '../../session/begin-reading.ts';
import { checkFeedFilter } from '../filters.ts';
import { FollowedFeed } from './followed-feed.ts';
import type { SharedDecisions } from './shared-decisions.ts';
import type { OpenEventSession } from '../../session/event-sessions.ts';
import { KeptProfile } from '../../session/kept-profile.ts';
import type { FeedEvent, UnreadCount, WatchArgs } from '../../shapes.ts';
import { UnreadWatch } from './unread-watch.ts';
import type { ReadingDependencies } from '../../service-parts.ts';

export interface WatchFeedDependencies {
  readonly decisions: Pick<SharedDecisions, 'decide'>;
  readonly liveLog: Pick<LiveLog, 'watch'>;
  readonly openSession: OpenEventSession;
  readonly reading: ReadingDependencies;
  /** Counts with a read that begins after the call. */
  readonly countUnread: (identity: Identity) => Promise<UnreadCount>;
}

/**
 * Follows changes of the reader's feed. Whether a change is visible is decided when it is sent, by the rules of the feed
 * query. The protocol is described in realtime/README.md.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchFeed(
  { liveLog, openSession, countUnread, reading, decisions }: WatchFeedDependencies,
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
  const watcher = { identity, filter, kept: new KeptProfile(identity.userId) };
  return new FollowedFeed(messages, {
    decisions,
    watcher,
    openUnread: args.withUnread === true ? unreadOf(identity, countUnread, signal) : null,
    isResumed: after !== null,
    signal,
  });
}

/** A function of its own: what it is made from is kept by those alone who ask for the count. */
function unreadOf(
  identity: Identity,
  countUnread: WatchFeedDependencies['countUnread'],
  signal: WatchArgs['signal'],
): () => UnreadWatch {
  return () => new UnreadWatch({ count: () => countUnread(identity), signal });
}
