import type { Lane } from '../../domain/lane.ts';
import { OnDispose } from '../../lib/on-dispose.ts';
import { LaneTurns, type ChunkOf } from './lane-turns.ts';

export type { WorkKind } from './lane-queue.ts';
export type { ChunkOf } from './lane-turns.ts';

/**
 * Decides which chunk of work is next, for all that works in the background of a process. The most urgent lane has the
 * most of it, every lane gets its share, and within a lane the kinds of work take turns. A lane gives way while a pass of
 * a more urgent one is under way: what it has begun it ends, and goes on with few chunks at a time. Bulk also rests between
 * them, and gives way for a moment longer: the database is the same for the requests of people, which no gate sees.
 */
export class LaneGate {
  readonly #turns = new LaneTurns();
  #timer: NodeJS.Timeout | null = null;
  /** When it is set off, by `performance.now()`. */
  #timerAt = 0;

  /** Less urgent lanes give way until disposed. For a pass as a whole: it does more than its chunks. */
  enter(lane: Lane): Disposable {
    this.#turns.passBegun(lane);
    return new OnDispose(() => {
      this.#turns.passEnded(lane, performance.now());
      this.#begin();
    });
  }

  /** Does one chunk when it is its turn. A chunk must not wait for another. */
  async run<T>(chunk: ChunkOf, task: () => Promise<T>): Promise<T> {
    const turn = new Promise<void>((resolve) => {
      this.#turns.add(chunk, resolve);
    });
    this.#begin();
    await turn;
    const begunAt = performance.now();
    try {
      return await task();
    } finally {
      this.#turns.ended(chunk.lane, begunAt, performance.now());
      this.#begin();
    }
  }

  #begin(): void {
    // One look at the clock: a rest that ended between two would be waited for by nothing.
    const now = performance.now();
    for (let begin = this.#turns.take(now); begin !== null; begin = this.#turns.take(now)) begin();
    const restMs = this.#turns.restMs(now);
    if (restMs <= 0) return;
    const at = now + restMs;
    if (this.#timer !== null && this.#timerAt <= at) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#begin();
    }, Math.ceil(restMs));
  }
}
