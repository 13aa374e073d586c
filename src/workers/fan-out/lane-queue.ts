/** What takes turns within a lane. */
export type WorkKind = 'fan-out' | 'rebuild' | 'rename';

/** The chunks of one lane that wait for their turn, and what the gate knows of the others. */
export class LaneQueue {
  running = 0;
  /** Passes under way, waiting or not. */
  passes = 0;
  /** Chunks begun, each divided by the share of the lane. */
  spent = 0;
  /** When something of it was last under way, by `performance.now()`. */
  endedAt = -Infinity;
  /** Beside something more urgent, nothing of it begins before then. */
  restsUntil = -Infinity;
  /** By kind; the kind whose turn it is comes first. */
  readonly #waiting = new Map<WorkKind, (() => void)[]>();

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  get isUnderWay(): boolean {
    return this.running > 0 || this.passes > 0 || this.isWaiting;
  }

  add(kind: WorkKind, begin: () => void): void {
    const queue = this.#waiting.get(kind);
    if (queue === undefined) this.#waiting.set(kind, [begin]);
    else queue.push(begin);
  }

  /** The next chunk; afterwards it is the turn of the next kind. */
  take(): (() => void) | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [kind, queue] = next;
    const begin = queue.shift();
    this.#waiting.delete(kind);
    if (queue.length > 0) this.#waiting.set(kind, queue);
    return begin;
  }
}
