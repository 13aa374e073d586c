import type { FeedPosition } from '../domain/newsfeed-item.ts';
import type { Follow } from '../domain/viewer.ts';

/** Entries that a response looks at in vain before it stops, about. */
export const MAX_MISSED = 400;

/**
 * How far one response reads a list of which the rules or a filter may let few entries through. Where it stops, the response ends: its
 * page is short and goes on from there, and a count is what was found so far.
 */
export class Extent {
  #missed = 0;
  #stop: FeedPosition | null = null;
  #follows: Promise<readonly Follow[]> | null = null;

  /** Where it stopped; `null`: it has not. */
  get stop(): FeedPosition | null {
    return this.#stop;
  }

  /** Entries that were looked at in vain. */
  get looked(): number {
    return this.#missed;
  }

  /** Entries that may still be looked at in vain. At least 1. */
  get room(): number {
    return Math.max(1, MAX_MISSED - this.#missed);
  }

  /** So many were looked at in vain that it stops. */
  get isSpent(): boolean {
    return this.#missed >= MAX_MISSED;
  }

  /** Reads the next entries from a position on, if it has not stopped. */
  scan<P>(from: FeedPosition | null, read: () => Promise<readonly P[]>): Promise<readonly P[]> {
    if (this.isSpent && from !== null) this.stopAt(from);
    return this.#stop === null ? read() : Promise.resolve([]);
  }

  /** All that the reader follows, read once for the response. */
  follows(read: () => Promise<readonly Follow[]>): Promise<readonly Follow[]> {
    return (this.#follows ??= read());
  }

  /** So many entries were looked at in vain. */
  missed(count: number): void {
    this.#missed += count;
  }

  stopAt(position: FeedPosition): void {
    this.#stop ??= position;
  }
}
