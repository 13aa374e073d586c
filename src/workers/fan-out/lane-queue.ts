/** Kinds of work that take turns within a lane. */
export type WorkKind = 'fan-out' | 'rebuild' | 'rename';

/** The queued chunks of one lane, and the gate's accounting for the lane. */
export class LaneQueue {
  running = 0;
  /** Number of running passes, waiting or not. */
  passes = 0;
  /** Started chunks divided by the lane's share. */
  spent = 0;
  /** End of the lane's latest work, on the `performance.now()` clock. */
  endedAt = -Infinity;
  /** While a more urgent lane is active, no chunk starts before this time. */
  restsUntil = -Infinity;
  /** Waiting chunks by kind; the kind whose turn it is comes first. */
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

  /** Takes the next chunk; then it is the next kind's turn. */
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
