import type { Lane } from '../domain/lane.ts';
import { OnDispose } from '../lib/closer.ts';
import { LaneTurns, type ChunkOf } from './lane-turns.ts';

export type { WorkKind } from './lane-turns.ts';
export type { ChunkOf } from './lane-turns.ts';

/**
 * Decides which chunk of background work of a process runs next. The most urgent lane gets the largest share, every lane
 * gets some, and within a lane the kinds of work take turns. While a pass of a more urgent lane is running, a lane finishes
 * its started chunks and continues with few at a time. Bulk also pauses between chunks, and a moment longer afterwards,
 * since user requests use the same database without passing this gate.
 */
export class LaneGate {
  readonly #turns = new LaneTurns();
  #timer: NodeJS.Timeout | null = null;
  /** When the timer fires, on the `performance.now()` clock. */
  #timerAt = 0;

  /** Makes less urgent lanes yield until disposed. For a whole pass, which does more than its chunks. */
  enter(lane: Lane): Disposable {
    this.#turns.passBegun(lane);
    return new OnDispose(() => {
      this.#turns.passEnded(lane, performance.now());
      this.#begin();
    });
  }

  /** Runs a chunk when it is its turn. A chunk must not wait for another one. */
  async run<T>(chunk: ChunkOf, task: () => Promise<T>): Promise<T> {
    const turn = new Promise<void>((resolve) => this.#turns.add(chunk, resolve));
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
    // Read the clock once: a pause that ended between two readings would never be waited for.
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
