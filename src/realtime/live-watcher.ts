import type { UserId } from '../domain/action.ts';
import { CursorEncoder, decodeLiveCursor, NOWHERE, readerTag, type LogPosition } from './live-cursor.ts';
import type { LiveMessage, ResyncReason, WatchOptions } from './live-log.ts';
import { findHole, type LogEntry, type LogSnapshot } from './live-resume.ts';
import { LiveStream, type StreamOwner } from './live-stream.ts';

/** Notification for watchers: an event with its position or, without an entry, a new generation of the log. */
export interface LiveFrame {
  readonly generation: string;
  readonly entry: LogEntry | null;
}

/** What all watchers of a live log share: each of them keeps only what is its own. */
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
