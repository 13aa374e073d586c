import type { Core } from '../../core.ts';
import type { Identity } from '../../../domain/viewer.ts';
import { beginReading } from '../../session/begin-reading.ts';
import { checkFeedFilter } from '../filters.ts';
import { FollowedFeed } from './followed-feed.ts';
import { KeptProfile } from '../../session/kept-profile.ts';
import type { FeedEvent, WatchArgs } from '../../shapes.ts';
import { UnreadWatch } from './unread-watch.ts';

/**
 * Follows changes of the reader's feed. Whether a change is visible is decided when it is sent, by the rules of the feed
 * query. The protocol is described in realtime/README.md.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchFeed(
  core: Core,
  identity: Identity,
  args: WatchArgs,
): Promise<AsyncIterable<FeedEvent>> {
  const filter = checkFeedFilter(args.filter);
  const { signal, after = null } = args;
  await beginReading(core, core.openEventSession(identity));
  const messages = await core.liveLog.watch({
    userId: identity.userId,
    signal,
    ...(after === null ? {} : { after }),
  });
  const watcher = { identity, filter, kept: new KeptProfile(identity.userId) };
  return new FollowedFeed(messages, {
    decisions: core.decisions,
    watcher,
    openUnread: args.withUnread === true ? unreadOf(identity, core.countForWatcher, signal) : null,
    isResumed: after !== null,
    signal,
  });
}

/** A function of its own: what it is made from is kept by those alone who ask for the count. */
function unreadOf(
  identity: Identity,
  countUnread: Core['countForWatcher'],
  signal: WatchArgs['signal'],
): () => UnreadWatch {
  return () => new UnreadWatch({ count: () => countUnread(identity), signal });
}
