import type { Identity } from '../../domain/viewer.ts';
import type { EndSignal } from '../../lib/ending.ts';
import type { LiveLog, LiveMessage, LiveMessages } from '../../realtime/live-log.ts';
import { beginReading } from '../session/begin-reading.ts';
import { checkFeedFilter } from './filters.ts';
import type { EventMessage } from './live-decisions.ts';
import type { SharedDecisions } from './shared-decisions.ts';
import type { OpenEventSession } from '../session/event-sessions.ts';
import { KeptProfile } from '../session/kept-profile.ts';
import type { FeedEvent, UnreadCount, WatchArgs } from '../shapes.ts';
import { UnreadWatch } from './unread-watch.ts';
import type { ReadingDependencies } from '../service-parts.ts';

export interface WatchFeedDependencies {
  readonly decisions: Pick<SharedDecisions, 'decide'>;
  readonly liveLog: Pick<LiveLog, 'watch'>;
  readonly openSession: OpenEventSession;
  readonly reading: ReadingDependencies;
  /** Counts by a read that begins after the call. */
  readonly countUnread: (identity: Identity) => Promise<UnreadCount>;
}

/**
 * Follows the reader's feed as it changes. Whether a change is shown is decided when it is sent, by the rules of the
 * feed query. What is sent when is said in realtime/README.md.
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
  return follow(messages, {
    decide: (events, changes) => decisions.decide(watcher, events, changes),
    openUnread: () =>
      args.withUnread === true ? new UnreadWatch({ count: () => countUnread(identity), signal }) : null,
    isResumed: after !== null,
    signal,
  });
}

interface FollowOptions {
  /** Null: nothing is sent. `changes`: messages so far that may mean that the reader changed something. */
  readonly decide: (
    events: readonly EventMessage[],
    changes: number,
  ) => Promise<readonly (FeedEvent | null)[]>;
  readonly openUnread: () => UnreadWatch | null;
  readonly isResumed: boolean;
  readonly signal: EndSignal;
}

/** Most events that are decided together: as many items are in memory until they are taken. */
const MOST_AT_ONCE = 100;
/** For how long a decision is good while nothing arrives that might change it. */
const GOOD_FOR_MS = 250;

/** The messages as events and, between them, the count whenever it has changed. Takes nothing before it is asked for more. */
async function* follow(
  messages: LiveMessages,
  { decide, openUnread, isResumed, signal }: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  using unread = openUnread();
  let next: Promise<IteratorResult<LiveMessage, unknown>> | null = null;
  let cursor = '';
  // Doubles while the client takes what was decided in time, so that one that is slow gets it fresh.
  let atOnce = 1;
  function count(): FeedEvent | null {
    const changed = unread?.take() ?? null;
    // With the cursor of the last message: everything up to there has been sent.
    return changed === null ? null : { kind: 'unread', cursor, unread: changed };
  }
  try {
    for (;;) {
      next ??= messages.next();
      // The count first: it comes a few times a second at most, messages may come without an end.
      const result = unread === null ? await next : await Promise.race([unread.ready(), next]);
      if (result === 'unread') {
        const changed = count();
        if (changed !== null) yield changed;
        continue;
      }
      next = null;
      if (result.done === true) return;
      const message = result.value;
      if (message.kind !== 'event') {
        cursor = message.cursor;
        if (unread !== null) note(unread, message.kind, isResumed);
        yield message;
        continue;
      }
      let waiting: readonly EventMessage[] = [message, ...messages.takeEvents(atOnce - 1)];
      while (waiting.length > 0) {
        // Before the reads: what arrives while they are under way may not be in them.
        const { withdrawals } = messages;
        const decided = await decide(waiting, withdrawals);
        const decidedAt = performance.now();
        let sent = 0;
        for (const [index, event] of decided.entries()) {
          if (signal.aborted) return;
          const isGood = messages.withdrawals === withdrawals && performance.now() - decidedAt < GOOD_FOR_MS;
          // The first is sent in any case, or a busy feed would never come to an end.
          if (index > 0 && !isGood) break;
          const changed = index > 0 && unread?.isReady === true ? count() : null;
          if (changed !== null) yield changed;
          cursor = waiting[index]?.cursor ?? cursor;
          if (unread !== null) note(unread, event?.kind === 'resync' ? 'list' : 'event', isResumed);
          sent += 1;
          if (event !== null) yield event;
        }
        atOnce = sent === waiting.length ? Math.min(MOST_AT_ONCE, atOnce * 2) : Math.max(1, sent);
        waiting = waiting.slice(sent);
      }
    }
  } finally {
    await messages.return?.();
  }
}

function note(unread: UnreadWatch, kind: LiveMessage['kind'] | 'list', isResumed: boolean): void {
  if (kind === 'resync' || kind === 'list') unread.restart();
  // A watcher that resumes may have received the last event and not the count after it.
  if (kind === 'event' || (kind === 'ready' && isResumed)) unread.touch();
}
