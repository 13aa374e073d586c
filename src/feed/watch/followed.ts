import type { EndSignal } from '../../lib/closer.ts';
import type { ReadyIterator } from '../../lib/prefetch.ts';
import type { LiveEvent, LiveMessage, LiveMessages } from '../../live/live-log.ts';
import type {
  DecisionListener,
  EventMessage,
  SharedDecisions,
  SharedFacts,
  Watcher,
} from './shared-decisions.ts';
import type { ValueWatch } from './value-watch.ts';

/** A value that is sent between events whenever it has changed, such as the unread count. */
export interface Extra<E, V> {
  readonly open: () => ValueWatch<V>;
  /** `null`: the value is nothing to send. @param cursor of the event before it: everything up to there has been sent */
  readonly eventOf: (value: V, cursor: string) => E | null;
  /** Whether the value may have changed with an event of the log. */
  readonly isTouchedBy: (event: LiveEvent) => boolean;
}

interface FollowOptions<E, V, F extends SharedFacts> {
  readonly decisions: SharedDecisions<F>;
  readonly watcher: Watcher<E, F>;
  /** `null`: the client does not ask for it. */
  readonly extra: Extra<E, V> | null;
  readonly isResumed: boolean;
  readonly signal: EndSignal;
}

/** Decisions for the waiting events, and when they were made. */
interface Decided<E> {
  readonly events: readonly (E | null)[];
  readonly at: number;
  /** State of the log before the reads: messages that arrive during them may be missing from them. */
  readonly withdrawals: number;
}

/** Upper bound on events decided together, which is also the number of items in memory until they are taken. */
const MOST_AT_ONCE = 100;
/** How long a decision stays valid while no message arrives that might change it. */
const GOOD_FOR_MS = 250;
const NONE: readonly EventMessage[] = [];
const NOTHING_READY: readonly never[] = [];

/** Messages of the log itself, which every list that is followed passes on. */
type Said = Exclude<LiveMessage, { kind: 'event' }>;

/**
 * The messages of a log as events of the list that a watcher follows, and something more between them whenever it has changed. Takes
 * nothing before it is asked for more.
 */
export class Followed<E extends { readonly kind: string }, V, F extends SharedFacts>
  implements ReadyIterator<E | Said>, DecisionListener<E>
{
  readonly #messages: LiveMessages;
  readonly #options: FollowOptions<E, V, F>;
  /** Opened when the first event is asked for. */
  #unread: ValueWatch<V> | null = null;
  #next: Promise<IteratorResult<LiveMessage, unknown>> | null = null;
  #cursor = '';
  #waiting: readonly EventMessage[] = NONE;
  #decided: Decided<E> | null = null;
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

  constructor(messages: LiveMessages, options: FollowOptions<E, V, F>) {
    this.#messages = messages;
    this.#options = options;
  }

  get hasReady(): boolean {
    return this.#decided !== null && this.#sent < this.#decided.events.length;
  }

  get ready(): readonly E[] {
    if (this.#decided === null) return NOTHING_READY;
    return this.#decided.events.slice(this.#sent).filter((event) => event !== null);
  }

  whenReady(wake: () => void): boolean {
    const unread = (this.#unread ??= this.#options.extra?.open() ?? null);
    // A value may arrive at any time, without a message.
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
    // Only the reader's own log tells of what they change.
    return this.#options.watcher.isOwnLog ? this.#changes : 0;
  }

  decided(events: readonly (E | null)[]): void {
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

  takeReady(): E | null {
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
      const message = this.#waiting[index];
      this.#cursor = message?.cursor ?? this.#cursor;
      if (unread !== null && message !== undefined) this.#noteEvent(unread, event, message);
      this.#sent += 1;
      if (event !== null) return event;
    }
    this.#finish();
    return null;
  }

  async next(): Promise<IteratorResult<E | Said, void>> {
    try {
      const event = this.#isOver ? null : await this.#advance();
      if (event !== null) return { done: false, value: event };
    } catch (error) {
      await this.#end();
      throw error;
    }
    return this.return();
  }

  async return(): Promise<IteratorResult<E | Said, void>> {
    await this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next event; `null` at the end. */
  async #advance(): Promise<E | Said | null> {
    const unread = (this.#unread ??= this.#options.extra?.open() ?? null);
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
      // The value has precedence: it comes a few times a second at most, whereas messages may never stop.
      const result = unread === null ? await this.#next : await Promise.race([unread.ready(), this.#next]);
      if (result === 'value') {
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

  #isGood({ withdrawals, at }: Decided<E>): boolean {
    return this.#messages.withdrawals === withdrawals && performance.now() - at < GOOD_FOR_MS;
  }

  /** Returns the remaining waiting events, which must be decided again. */
  #finish(): void {
    const isAll = this.#sent === this.#waiting.length;
    this.#atOnce = isAll ? Math.min(MOST_AT_ONCE, this.#atOnce * 2) : Math.max(1, this.#sent);
    this.#waiting = isAll ? NONE : this.#waiting.slice(this.#sent);
    this.#decided = null;
  }

  #count(): E | null {
    const changed = this.#unread?.take() ?? null;
    return changed === null ? null : (this.#options.extra?.eventOf(changed.value, this.#cursor) ?? null);
  }

  #noteEvent(unread: ValueWatch<V>, event: E | null, message: EventMessage): void {
    if (event?.kind === 'resync') unread.restart();
    else if (this.#options.extra?.isTouchedBy(message.event) === true) unread.touch();
  }

  #note(unread: ValueWatch<V>, kind: Said['kind']): void {
    if (kind === 'resync') unread.restart();
    // A watcher that resumes may have received the last event but not the value after it.
    else if (this.#options.isResumed) unread.touch();
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
