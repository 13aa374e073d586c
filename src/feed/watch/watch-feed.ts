import type { Core } from '../../core/core.ts';
import type { Identity } from '../../domain/viewer.ts';
import { beginReading } from '../session/begin-reading.ts';
import type { FeedView } from '../page/declared.ts';
import { checkAskedList, readerOf } from '../page/views.ts';
import { KeptProfile } from '../session/kept-profile.ts';
import type { FeedEvent, WatchArgs, UnreadCount } from '../../core/shapes.ts';
import { Followed, type Extra } from './followed.ts';
import { FeedRules, type FeedFacts } from './live-decisions.ts';
import { ValueWatch } from './value-watch.ts';

/**
 * Follows changes of the reader's feed. Whether a change is visible is decided when it is sent, by the rules of the feed
 * query. The protocol is described in live/README.md.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchFeed(
  core: Core,
  identity: Identity,
  args: WatchArgs,
): Promise<AsyncIterable<FeedEvent>> {
  const filter = checkAskedList(identity.userId, args);
  const { signal, after = null } = args;
  const { userId } = identity;
  const watcher = { identity, rules: new FeedRules(filter), kept: new KeptProfile(userId), isOwnLog: true };
  // Before the profile is read, so that the log tells of each change that it does not have.
  const messages = await core.liveLog.watch({ userId, signal, ...(after === null ? {} : { after }) });
  try {
    readerOf(await beginReading(core, await core.beginWatch(identity, watcher.kept)), filter);
  } catch (error) {
    await messages.return?.();
    throw error;
  }
  return new Followed<FeedEvent, UnreadCount, FeedFacts>(messages, {
    decisions: core.decisions,
    watcher,
    extra:
      args.withUnread === true
        ? unreadOf({ identity, view: filter.view }, core.countForWatcher, signal)
        : null,
    isResumed: after !== null,
    signal,
  });
}

/** A function of its own: what it is made from is kept by those alone who ask for the count. */
function unreadOf(
  watched: { readonly identity: Identity; readonly view: FeedView | null },
  countUnread: Core['countForWatcher'],
  signal: WatchArgs['signal'],
): Extra<FeedEvent, UnreadCount> {
  return {
    open: () => new ValueWatch({ read: () => countUnread(watched), isSame, signal }),
    eventOf: (unread, cursor) => ({ kind: 'unread', cursor, unread }),
    isTouchedBy: () => true,
  };
}

function isSame(a: UnreadCount, b: UnreadCount): boolean {
  return a.count === b.count && a.isExact === b.isExact;
}
