import { LANES, type Lane } from '../../../domain/lane.ts';
import type { Arrival } from './system.ts';

export class FanOutTask {
  readonly lane: Lane;
  readonly readers: number;
  readonly publishedAt: number;
  /** Up to here everybody has it: where a worker goes on. */
  reached = 0;
  /** Ends of the stretches that are delivered beyond it, by where they begin. */
  readonly #beyond = new Map<number, number>();

  constructor({ at, lane, readers }: Arrival) {
    this.publishedAt = at;
    this.lane = lane;
    this.readers = readers;
  }

  /** @returns to how many readers it is new: a worker that goes on from a checkpoint writes some twice. */
  deliver(from: number, to: number): number {
    if (this.#beyond.has(from) || from < this.reached) return 0;
    this.#beyond.set(from, to);
    for (let end = this.#beyond.get(this.reached); end !== undefined; end = this.#beyond.get(this.reached)) {
      this.#beyond.delete(this.reached);
      this.reached = end;
    }
    return to - from;
  }
}

/**
 * Fan-outs that wait for a worker, the most urgent lane first, within a lane in the order in which they came, and behind them those
 * whose lease has ended. Several workers may find the same one: one of them takes it.
 */
export class FanOutQueue {
  readonly #lanes: Readonly<Record<Lane, Set<FanOutTask>>> = {
    URGENT: new Set(),
    LIVE: new Set(),
    BULK: new Set(),
  };
  readonly #expired = new Set<FanOutTask>();
  readonly #onWork: () => void;
  readonly #onExpired: () => void;

  constructor(on: { readonly work: () => void; readonly expired: () => void }) {
    this.#onWork = on.work;
    this.#onExpired = on.expired;
  }

  get length(): number {
    return LANES.reduce((sum, lane) => sum + this.#lanes[lane].size, this.#expired.size);
  }

  add(task: FanOutTask): void {
    this.#lanes[task.lane].add(task);
    this.#onWork();
  }

  /** Nobody hears of it: workers look for such now and then. */
  expire(task: FanOutTask): void {
    this.#expired.add(task);
    this.#onExpired();
  }

  /** The first that are due, as they are found by looking. */
  due(
    lanes: readonly Lane[],
    { count, takesOver }: { readonly count: number; readonly takesOver: boolean },
  ): readonly FanOutTask[] {
    const found: FanOutTask[] = [];
    for (const lane of lanes)
      for (const task of this.#lanes[lane]) {
        if (found.length === count) return found;
        found.push(task);
      }
    return found.length > 0 || !takesOver ? found : [...this.#expired].slice(0, count);
  }

  /** False: another one was faster. */
  take(task: FanOutTask): boolean {
    return this.#lanes[task.lane].delete(task) || this.#expired.delete(task);
  }
}
