import { LANES, type Lane } from '../../../../src/domain/lane.ts';
import type { Arrival, FanOutSystem } from './system.ts';

export class FanOutTask {
  readonly lane: Lane;
  readonly readers: number;
  readonly publishedAt: number;
  /** Everybody up to here has it: where a worker continues. */
  reached = 0;
  /** Ends of the ranges delivered beyond it, by their starts. */
  readonly #beyond = new Map<number, number>();

  constructor({ at, lane, readers }: Arrival) {
    this.publishedAt = at;
    this.lane = lane;
    this.readers = readers;
  }

  /** @returns the number of readers for whom it is new: a worker that continues from a checkpoint writes some twice. */
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

/** Bulk chunks are half as large, as in the worker. */
export function sizeOfChunk({ lane }: FanOutTask, { chunkSize }: Pick<FanOutSystem, 'chunkSize'>): number {
  return lane === 'BULK' ? Math.ceil(chunkSize / 2) : chunkSize;
}

/**
 * Fan-outs waiting for a worker: most urgent lane first, within a lane in order of arrival, and after them those with
 * expired leases. Several workers may find the same one, but only one of them claims it.
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

  /** Sends no signal: workers find expired leases by polling. */
  expire(task: FanOutTask): void {
    this.#expired.add(task);
    this.#onExpired();
  }

  /** A worker that was to look is gone: others find what it was woken for by polling. */
  leave(): void {
    this.#onExpired();
  }

  /** The first due ones, as found by a poll. */
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

  /** `false`: another worker was faster. */
  take(task: FanOutTask): boolean {
    return this.#lanes[task.lane].delete(task) || this.#expired.delete(task);
  }
}
