import type { UserId } from '../domain/action.ts';
import {
  CursorEncoder,
  decodeLiveCursor,
  NOWHERE,
  readerTag,
  type LiveEvent,
  type LogPosition,
  type LiveMessage,
  type ResyncReason,
  type WatchOptions,
  type LiveMessages,
  findHole,
  type LogEntry,
  type LogSnapshot,
} from './live-log.ts';
import type { EndSignal } from '../lib/closer.ts';

export class WatcherSet {
  readonly #byReader = new Map<UserId, readonly LiveWatcher[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get readers(): UserId[] {
    return [...this.#byReader.keys()];
  }

  all(): LiveWatcher[] {
    return [...this.#byReader.values()].flat();
  }

  /** A snapshot, since a watcher may end during the iteration. */
  of(userId: UserId): readonly LiveWatcher[] {
    return this.#byReader.get(userId) ?? [];
  }

  add(watcher: LiveWatcher): void {
    this.#byReader.set(watcher.userId, [...this.of(watcher.userId), watcher]);
    this.#size += 1;
  }

  delete(watcher: LiveWatcher): boolean {
    const all = this.of(watcher.userId);
    const others = all.filter((other) => other !== watcher);
    if (others.length === all.length) return false;
    if (others.length === 0) this.#byReader.delete(watcher.userId);
    else this.#byReader.set(watcher.userId, others);
    this.#size -= 1;
    return true;
  }
}

/** Readers whose events may be missing, or all readers once the list grew too long. */
export type Gaps = ReadonlySet<UserId> | 'all';

/** Remembers readers to whom a gap must still be announced. Bounded: too many readers become all. */
export class GapLedger {
  readonly #limit: number;
  #gaps: Set<UserId> | 'all' = new Set();

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#gaps !== 'all' && this.#gaps.size === 0;
  }

  note(gaps: Iterable<UserId> | 'all'): void {
    if (gaps === 'all') {
      this.#gaps = 'all';
      return;
    }
    for (const userId of gaps) {
      if (this.#gaps === 'all') return;
      this.#gaps.add(userId);
      if (this.#gaps.size > this.#limit) this.#gaps = 'all';
    }
  }

  /** Takes everything recorded; a caller that cannot announce it records it again. */
  take(): Gaps {
    const gaps = this.#gaps;
    this.#gaps = new Set();
    return gaps;
  }
}

type Result = IteratorResult<LiveMessage, undefined>;

const DONE: Result = { done: true, value: undefined };

/** Least time between two messages for which a client reads everything again because of what others did, in milliseconds. */
const READS_AGAIN_MS = 1_000;

/**
 * The change by somebody else for which a client reads everything again: of the list, by a block, or of followers; `null`: none. Of
 * equal ones only the last matters, and what came before a change of the list is read with it.
 */
function readAgainFor(message: LiveMessage): 'list' | 'followers' | null {
  if (message.kind !== 'event') return null;
  const { event } = message;
  if (event.kind === 'list') return event.change === 'membership' ? 'list' : null;
  return event.kind === 'notification' && event.of === '' && event.kinds.length > 0 ? 'followers' : null;
}

/** Without those that a later one makes superfluous: a client that resumes after it has read everything again. */
function withoutSuperfluous(messages: readonly LiveMessage[]): LiveMessage[] {
  const last = (why: ReturnType<typeof readAgainFor>): number =>
    messages.findLastIndex((message) => readAgainFor(message) === why);
  const [list, followers] = [last('list'), last('followers')];
  return messages.filter((message, index) => {
    if (message.kind === 'ready') return true;
    return index >= list && (index === followers || readAgainFor(message) !== 'followers');
  });
}

/** Whether something may be shown no more. */
function mayWithdraw(event: LiveEvent): boolean {
  return event.kind === 'interaction' ? event.isGone : event.kind === 'removed' || event.kind === 'list';
}

interface StreamOwner {
  /** Called once, when the stream has ended. */
  streamEnded(): void;
}

/**
 * Bounded buffer of one watcher's messages between log and consumer: above the limit, unread messages are replaced by one
 * `resync`. Whatever others do, the client reads everything again once a second at most: what would make it do so sooner waits,
 * with all that follows. Ends on its signal, on return() or on end(); unread messages are then dropped, and the owner is notified. With
 * an already fired signal it starts ended and calls nothing.
 */
class LiveStream implements LiveMessages {
  readonly #limit: number;
  readonly #replayLimit: number;
  readonly #signal: EndSignal;
  readonly #owner: StreamOwner;
  readonly #onAbort = (): void => this.end();
  #unread: { readonly message: LiveMessage; readonly isReplay: boolean }[] = [];
  #replayed = 0;
  #withdrawals = 0;
  /** When the client was last made to read everything again. */
  #readsAgainAt = -Infinity;
  /** Waits until it may be made to do so once more; `null`: nothing does. */
  #held: { readonly messages: LiveMessage[]; readonly timer: NodeJS.Timeout } | null = null;
  #waiting: ((result: Result) => void)[] = [];
  #wake: (() => void) | null = null;
  #ended = false;

  constructor(options: {
    readonly limit: number;
    readonly replayLimit: number;
    readonly signal: EndSignal;
    readonly owner: StreamOwner;
  }) {
    this.#limit = options.limit;
    this.#replayLimit = options.replayLimit;
    this.#signal = options.signal;
    this.#owner = options.owner;
    if (this.#signal.aborted) this.#ended = true;
    else this.#signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get ended(): boolean {
    return this.#ended;
  }

  get size(): number {
    return this.#unread.length;
  }

  get withdrawals(): number {
    return this.#withdrawals;
  }

  push(message: LiveMessage): void {
    this.#count(message);
    if (this.#ended || this.#hold(message)) return;
    this.#pass(message);
  }

  #pass(message: LiveMessage): void {
    if (readAgainFor(message) !== null) this.#readsAgainAt = performance.now();
    if (this.#hand(message)) return;
    if (this.#unread.length - this.#replayed >= this.#limit) this.#overflow(message.cursor);
    else this.#unread.push({ message, isReplay: false });
    this.#wakeUp();
  }

  /** Adds messages kept by a log. Limited separately, so that a full log can be replayed before live messages. */
  replay(messages: readonly LiveMessage[]): void {
    this.#release();
    for (const message of withoutSuperfluous(messages)) {
      this.#count(message);
      if (readAgainFor(message) !== null) this.#readsAgainAt = performance.now();
      if (this.#hand(message)) continue;
      if (this.#replayed >= this.#replayLimit) {
        this.#overflow((messages.at(-1) ?? message).cursor);
        return;
      }
      this.#unread.push({ message, isReplay: true });
      this.#replayed += 1;
      this.#wakeUp();
    }
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (this.#held !== null) clearTimeout(this.#held.timer);
    this.#held = null;
    this.#unread = [];
    this.#replayed = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(DONE);
    this.#wakeUp();
    this.#owner.streamEnded();
  }

  next(): Promise<Result> {
    const first = this.#unread[0];
    if (first !== undefined) {
      this.#take(1);
      return Promise.resolve({ done: false, value: first.message });
    }
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve) => {
      // Exactly as large as needed: nearly always one, for as long as nothing happens.
      this.#waiting = [...this.#waiting, resolve];
    });
  }

  get hasEvents(): boolean {
    return this.#unread[0]?.message.kind === 'event';
  }

  whenSome(wake: () => void): boolean {
    if (this.#unread.length > 0 || this.#ended) return false;
    this.#wake = wake;
    return true;
  }

  takeEvents(limit: number): Extract<LiveMessage, { kind: 'event' }>[] {
    const events: Extract<LiveMessage, { kind: 'event' }>[] = [];
    for (const { message } of this.#unread) {
      if (message.kind !== 'event' || events.length === limit) break;
      events.push(message);
    }
    this.#take(events.length);
    return events;
  }

  return(): Promise<Result> {
    this.end();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** `true`: it waits. */
  #hold(message: LiveMessage): boolean {
    if (this.#held === null) {
      const left = this.#readsAgainAt + READS_AGAIN_MS - performance.now();
      if (left <= 0 || readAgainFor(message) === null) return false;
      this.#held = { messages: [message], timer: setTimeout(() => this.#release(), left).unref() };
    } else {
      this.#held.messages.push(message);
      // Events that do not fit are replaced as they would be without waiting.
      if (this.#held.messages.length > this.#limit) this.#release();
    }
    return true;
  }

  #release(): void {
    if (this.#held === null) return;
    const { messages, timer } = this.#held;
    clearTimeout(timer);
    this.#held = null;
    for (const message of withoutSuperfluous(messages)) this.#pass(message);
  }

  #take(count: number): void {
    if (count === 0) return;
    const taken = this.#unread.splice(0, count);
    for (const { isReplay } of taken) if (isReplay) this.#replayed -= 1;
    // An array that was ever written to keeps its capacity.
    if (this.#unread.length === 0) this.#unread = [];
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #count(message: LiveMessage): void {
    const isHarmless = message.kind === 'ready' || (message.kind === 'event' && !mayWithdraw(message.event));
    if (!isHarmless) this.#withdrawals += 1;
  }

  /** `true` when the message need not be stored: a reader was waiting for it, or nobody ever will. */
  #hand(message: LiveMessage): boolean {
    if (this.#ended) return true;
    const reader = this.#waiting.shift();
    if (reader === undefined) return false;
    reader({ done: false, value: message });
    return true;
  }

  #overflow(cursor: string): void {
    const ready = this.#unread.find(({ message }) => message.kind === 'ready');
    this.#unread = ready === undefined ? [] : [{ ...ready, isReplay: false }];
    this.#replayed = 0;
    this.#withdrawals += 1;
    this.#unread.push({ message: { kind: 'resync', cursor, reason: 'buffer-overflow' }, isReplay: false });
  }
}

/** Notification for watchers: an event with its position or, without an entry, a new generation of the log. */
export interface LiveFrame {
  readonly generation: string;
  readonly entry: LogEntry | null;
}

/** State that all watchers of a live log share: each of them keeps only its own. */
export interface WatcherHost {
  readonly bufferLimit: number;
  readonly logLength: number;
  /** Keeps the reader's log from now on and reads what follows the position; `null`: reads only where the log ends. */
  readonly load: (userId: UserId, position: LogPosition | null) => Promise<LogSnapshot>;
  /** A log could not be read again; verify() repairs it once possible. */
  readonly onStale: (error: unknown) => void;
  /** Called once, when the stream of a watcher has ended. */
  readonly onEnd: (watcher: LiveWatcher) => void;
}

/**
 * Follows one reader's log for one consumer. A frame that continues the watcher's position is passed on; any other makes it
 * read the log again, so it never depends on every frame arriving.
 */
export class LiveWatcher implements StreamOwner {
  readonly userId: UserId;
  readonly stream: LiveStream;
  readonly #host: WatcherHost;
  /** Position to resume from; `null`: none was given. */
  readonly #from: LogPosition | null;
  readonly #cursors: CursorEncoder;
  /** `null` until `ready` is sent. */
  #position: LogPosition | null = null;
  /** live: frames are passed on; loading: they are set aside; stale: reading failed, and they are useless. */
  #state: 'live' | 'loading' | 'stale' = 'loading';
  #aside: LiveFrame[] = [];
  #loadAgain = false;

  constructor(host: WatcherHost, { userId, after, signal }: WatchOptions) {
    this.#host = host;
    this.userId = userId;
    const tag = readerTag(userId);
    this.#cursors = new CursorEncoder(tag);
    this.#from = after === undefined ? null : (decodeLiveCursor(tag, after) ?? NOWHERE);
    this.stream = new LiveStream({
      limit: host.bufferLimit,
      // One more for `ready`.
      replayLimit: host.logLength + 1,
      signal,
      owner: this,
    });
  }

  streamEnded(): void {
    this.#host.onEnd(this);
  }

  /**
   * Sends `ready` and missed messages, then goes live. The caller must have ensured that frames arrive.
   * Rejects when the log cannot be read.
   */
  async open(): Promise<void> {
    await this.#load(this.#from);
  }

  receive(frame: LiveFrame): void {
    if (this.#state === 'loading') this.#setAside(frame);
    else if (this.#state === 'live' && !this.#follow(frame)) void this.verify();
  }

  /** Something may have been missed: reads the log again. Resolves once that is done or has failed. */
  async verify(): Promise<void> {
    if (this.#state === 'loading') {
      this.#loadAgain = true;
      return;
    }
    try {
      await this.#load(this.#position);
    } catch (error) {
      this.#host.onStale(error);
    }
  }

  /** Whether the watcher has everything up to this position, the observed end of the log. */
  isUpTo(generation: string, sequence: number): boolean {
    const position = this.#position;
    return this.#state === 'live' && position?.generation === generation && position.sequence >= sequence;
  }

  async #load(from: LogPosition | null): Promise<void> {
    this.#state = 'loading';
    this.#loadAgain = false;
    let position = from;
    try {
      do {
        const snapshot = await this.#host.load(this.userId, position);
        if (this.stream.ended) return;
        this.stream.replay([...this.#opening(snapshot), ...this.#since(position, snapshot)]);
        this.#position = snapshot.head;
        this.#followAside();
        position = this.#position;
      } while (this.#isToLoadAgain());
      this.#state = 'live';
    } catch (error) {
      this.#state = 'stale';
      this.#aside = [];
      throw error;
    }
  }

  #isToLoadAgain(): boolean {
    const isAsked = this.#loadAgain;
    this.#loadAgain = false;
    return isAsked;
  }

  #opening({ head }: LogSnapshot): LiveMessage[] {
    if (this.#position !== null) return [];
    // Where it resumes from: a watcher disconnected right after `ready` has not received the missed messages yet. Written again:
    // what a client sends is not sent back.
    return [{ kind: 'ready', cursor: this.#cursor(this.#from ?? head) }];
  }

  #since(position: LogPosition | null, snapshot: LogSnapshot): LiveMessage[] {
    if (position === null) return [];
    const reason = findHole(position, snapshot);
    if (reason !== null) return [this.#resync(snapshot.head, reason)];
    return snapshot.missed.map((entry) => this.#event(snapshot.head.generation, entry));
  }

  #setAside(frame: LiveFrame): void {
    if (this.#aside.length < this.#host.bufferLimit) {
      this.#aside.push(frame);
      return;
    }
    // All of them are in the log that was read.
    this.#aside = [];
    this.#loadAgain = true;
  }

  #followAside(): void {
    const aside = this.#aside;
    this.#aside = [];
    if (!aside.every((frame) => this.#follow(frame))) this.#loadAgain = true;
  }

  /** Passes a frame on, or drops a known one; returns false when there is a gap. */
  #follow({ generation, entry }: LiveFrame): boolean {
    const position = this.#position;
    if (position === null || entry === null || generation !== position.generation) return false;
    if (entry.sequence > position.sequence + 1) return false;
    if (entry.sequence === position.sequence + 1) {
      this.#position = { generation, at: entry.at, sequence: entry.sequence };
      this.stream.push(this.#event(generation, entry));
    }
    return true;
  }

  #event(generation: string, { at, sequence, event }: LogEntry): LiveMessage {
    return { kind: 'event', cursor: this.#cursor({ generation, at, sequence }), event };
  }

  #resync(head: LogPosition, reason: ResyncReason): LiveMessage {
    return { kind: 'resync', cursor: this.#cursor(head), reason };
  }

  #cursor(position: LogPosition): string {
    return this.#cursors.encode(position);
  }
}
