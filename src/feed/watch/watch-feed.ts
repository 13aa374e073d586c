import type { Core } from '../../core/core.ts';
import type { Identity } from '../../domain/viewer.ts';
import { beginReading } from '../session/begin-reading.ts';
import type { FeedView } from '../page/declared.ts';
import { checkAskedList } from '../page/views.ts';
import { KeptProfile } from '../session/kept-profile.ts';
import type { FeedEvent, WatchArgs, UnreadCount } from '../../core/shapes.ts';
import type { EndSignal } from '../../lib/closer.ts';
import type { ReadyIterator } from '../../lib/prefetch.ts';
import type { LiveMessage, LiveMessages } from '../../live/live-log.ts';
import type { EventMessage } from './live-decisions.ts';
import type { DecisionListener, SharedDecisions, Watcher } from './shared-decisions.ts';

interface UnreadWatchOptions {
  readonly count: () => Promise<UnreadCount>;
  readonly signal: EndSignal;
}

/** Delay before counting, in milliseconds, so that a burst of events causes a single count. */
const GATHER_MS = 250;

/**
 * Unread count of one subscription. At most one count is running and one is waiting; a count that nobody has taken is
 * replaced by the next. Without changes there is neither a timer nor a count.
 */
export class UnreadWatch implements Disposable {
  readonly #options: UnreadWatchOptions;
  readonly #onAbort = (): void => this[Symbol.dispose]();
  #timer: NodeJS.Timeout | null = null;
  #isCounting = false;
  #changedMeanwhile = false;
  /** The result of the running count must be discarded. */
  #isOutdated = false;
  /** Last count sent to the client; `null`: none that is still valid. */
  #notified: UnreadCount | null = null;
  #next: { readonly unread: UnreadCount } | { readonly error: unknown } | null = null;
  #wake: (() => void) | null = null;
  #isOver = false;

  constructor(options: UnreadWatchOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal.aborted) this.#isOver = true;
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The count may have changed. */
  touch(): void {
    if (this.#isOver) return;
    if (this.#isCounting) this.#changedMeanwhile = true;
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        void this.#count();
      }, GATHER_MS).unref();
  }

  /** The list changed by more than its events: discards a running count and always sends the next one. */
  restart(): void {
    this.#notified = null;
    this.#next = null;
    this.#isOutdated = this.#isCounting;
    this.touch();
  }

  get isReady(): boolean {
    return this.#next !== null;
  }

  /** Resolves when there is a result to take. Only the latest call is answered. */
  ready(): Promise<'unread'> {
    if (this.#next !== null) return Promise.resolve('unread');
    return new Promise((resolve) => {
      this.#wake = () => resolve('unread');
    });
  }

  /** The count to send; `null` when unchanged. Throws the error of a failed count. */
  take(): UnreadCount | null {
    const next = this.#next;
    this.#next = null;
    if (next === null) return null;
    if ('error' in next) throw next.error;
    this.#notified = next.unread;
    return next.unread;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#next = null;
    this.#wake = null;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  async #count(): Promise<void> {
    this.#isCounting = true;
    const next = await this.#options.count().then(
      (unread) => ({ unread }),
      (error: unknown) => ({ error }),
    );
    this.#isCounting = false;
    if (this.#isOver) return;
    if (!this.#isOutdated) this.#next = 'unread' in next && isSame(next.unread, this.#notified) ? null : next;
    this.#isOutdated = false;
    if (this.#changedMeanwhile) {
      this.#changedMeanwhile = false;
      this.touch();
    }
    if (this.#next !== null) this.#wake?.();
  }
}

function isSame(a: UnreadCount, b: UnreadCount | null): boolean {
  return a.count === b?.count && a.isExact === b.isExact;
}

interface FollowOptions {
  readonly decisions: SharedDecisions;
  readonly watcher: Watcher;
  /** `null`: the client does not ask for the unread count. */
  readonly openUnread: (() => UnreadWatch) | null;
  readonly isResumed: boolean;
  readonly signal: EndSignal;
}

/** Decisions for the waiting events, and when they were made. */
interface Decided {
  readonly events: readonly (FeedEvent | null)[];
  readonly at: number;
  /** State of the log before the reads: messages that arrive during them may be missing from them. */
  readonly withdrawals: number;
}

/** Upper bound on events decided together, which is also the number of items in memory until they are taken. */
const MOST_AT_ONCE = 100;
/** How long a decision stays valid while no message arrives that might change it. */
const GOOD_FOR_MS = 250;
const NONE: readonly EventMessage[] = [];
const NOTHING_READY: readonly FeedEvent[] = [];

/**
 * The messages as events, and the unread count between them whenever it has changed. Takes nothing before it is asked for
 * more.
 */
class FollowedFeed implements ReadyIterator<FeedEvent>, DecisionListener {
  readonly #messages: LiveMessages;
  readonly #options: FollowOptions;
  /** Opened when the first event is asked for. */
  #unread: UnreadWatch | null = null;
  #next: Promise<IteratorResult<LiveMessage, unknown>> | null = null;
  #cursor = '';
  #waiting: readonly EventMessage[] = NONE;
  #decided: Decided | null = null;
  /** Number of waiting events that have been handled. */
  #sent = 0;
  /** Doubles while the client takes decided events in time, so that a slow client gets fresh decisions. */
  #atOnce = 1;
  /** Withdrawals in the log when the waiting events were taken. */
  #changes = 0;
  /** Called when there is a decision, or something to decide. */
  #wake: (() => void) | null = null;
  #failure: { readonly error: unknown } | null = null;
  #isOver = false;
  readonly #onMessage = (): void => {
    if (this.#messages.hasEvents) this.#askToDecide();
    else this.#wakeUp();
  };

  constructor(messages: LiveMessages, options: FollowOptions) {
    this.#messages = messages;
    this.#options = options;
  }

  get hasReady(): boolean {
    return this.#decided !== null && this.#sent < this.#decided.events.length;
  }

  get ready(): readonly FeedEvent[] {
    if (this.#decided === null) return NOTHING_READY;
    return this.#decided.events.slice(this.#sent).filter((event) => event !== null);
  }

  whenReady(wake: () => void): boolean {
    const unread = (this.#unread ??= this.#options.openUnread?.() ?? null);
    // A count may arrive at any time, without a message.
    if (unread !== null || this.#next !== null || this.#failure !== null || this.#isOver) return false;
    if (this.#waiting.length > 0 || this.#messages.hasEvents) this.#askToDecide();
    else if (!this.#messages.whenSome(this.#onMessage)) return false;
    this.#wake = wake;
    return true;
  }

  take(): readonly EventMessage[] {
    if (this.#isOver) return NONE;
    if (this.#waiting.length === 0) this.#waiting = this.#messages.takeEvents(this.#atOnce);
    this.#changes = this.#messages.withdrawals;
    return this.#waiting;
  }

  get changes(): number {
    return this.#changes;
  }

  decided(events: readonly (FeedEvent | null)[]): void {
    if (!this.#isOver && events.length > 0) {
      this.#decided = { events, at: performance.now(), withdrawals: this.#changes };
      this.#sent = 0;
    }
    this.#wakeUp();
  }

  failed(error: unknown): void {
    this.#failure = { error };
    this.#wakeUp();
  }

  takeReady(): FeedEvent | null {
    const decided = this.#decided;
    if (decided === null || this.#options.signal.aborted) return null;
    const unread = this.#unread;
    while (this.#sent < decided.events.length) {
      const index = this.#sent;
      // The first event is always sent, otherwise a busy feed would never make progress.
      if (index > 0 && !this.#isGood(decided)) break;
      const changed = index > 0 && unread?.isReady === true ? this.#count() : null;
      if (changed !== null) return changed;
      const event = decided.events[index] ?? null;
      this.#cursor = this.#waiting[index]?.cursor ?? this.#cursor;
      if (unread !== null) this.#note(unread, event?.kind === 'resync' ? 'list' : 'event');
      this.#sent += 1;
      if (event !== null) return event;
    }
    this.#finish();
    return null;
  }

  async next(): Promise<IteratorResult<FeedEvent, void>> {
    try {
      const event = this.#isOver ? null : await this.#advance();
      if (event !== null) return { done: false, value: event };
    } catch (error) {
      await this.#end();
      throw error;
    }
    return this.return();
  }

  async return(): Promise<IteratorResult<FeedEvent, void>> {
    await this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next event; `null` at the end. */
  async #advance(): Promise<FeedEvent | null> {
    const unread = (this.#unread ??= this.#options.openUnread?.() ?? null);
    for (;;) {
      const ready = this.takeReady();
      if (ready !== null) return ready;
      if (this.#options.signal.aborted && this.#decided !== null) return null;
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#waiting.length > 0) {
        await this.#decide();
        continue;
      }
      this.#next ??= this.#messages.next();
      // The count has precedence: it comes a few times a second at most, whereas messages may never stop.
      const result = unread === null ? await this.#next : await Promise.race([unread.ready(), this.#next]);
      if (result === 'unread') {
        const changed = this.#count();
        if (changed !== null) return changed;
        continue;
      }
      this.#next = null;
      if (result.done === true) return null;
      const message = result.value;
      if (message.kind === 'event') {
        this.#waiting = [message, ...this.#messages.takeEvents(this.#atOnce - 1)];
        continue;
      }
      this.#cursor = message.cursor;
      if (unread !== null) this.#note(unread, message.kind);
      return message;
    }
  }

  #decide(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#askToDecide();
    });
  }

  #askToDecide(): void {
    const { decisions, watcher } = this.#options;
    decisions.decide(watcher, this);
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #isGood({ withdrawals, at }: Decided): boolean {
    return this.#messages.withdrawals === withdrawals && performance.now() - at < GOOD_FOR_MS;
  }

  /** Returns the remaining waiting events, which must be decided again. */
  #finish(): void {
    const isAll = this.#sent === this.#waiting.length;
    this.#atOnce = isAll ? Math.min(MOST_AT_ONCE, this.#atOnce * 2) : Math.max(1, this.#sent);
    this.#waiting = isAll ? NONE : this.#waiting.slice(this.#sent);
    this.#decided = null;
  }

  #count(): FeedEvent | null {
    const changed = this.#unread?.take() ?? null;
    // Uses the cursor of the last message: everything up to there has been sent.
    return changed === null ? null : { kind: 'unread', cursor: this.#cursor, unread: changed };
  }

  #note(unread: UnreadWatch, kind: LiveMessage['kind'] | 'list'): void {
    if (kind === 'resync' || kind === 'list') unread.restart();
    // A watcher that resumes may have received the last event but not the count after it.
    if (kind === 'event' || (kind === 'ready' && this.#options.isResumed)) unread.touch();
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#decided = null;
    this.#waiting = NONE;
    this.#unread?.[Symbol.dispose]();
    await this.#messages.return?.();
  }
}

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
  const watcher = { identity, filter, kept: new KeptProfile(userId) };
  // Before the profile is read, so that the log tells of each change that it does not have.
  const messages = await core.liveLog.watch({ userId, signal, ...(after === null ? {} : { after }) });
  try {
    await beginReading(core, await core.beginWatch(identity, watcher.kept));
  } catch (error) {
    await messages.return?.();
    throw error;
  }
  return new FollowedFeed(messages, {
    decisions: core.decisions,
    watcher,
    openUnread:
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
): () => UnreadWatch {
  return () => new UnreadWatch({ count: () => countUnread(watched), signal });
}
