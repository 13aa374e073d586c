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

/** Fan-outs that wait for a worker, the most urgent lane first, within a lane in the order in which they came. */
export class FanOutQueue {
  readonly #lanes: Readonly<Record<Lane, FanOutTask[]>> = { URGENT: [], LIVE: [], BULK: [] };
  readonly #from: Record<Lane, number> = { URGENT: 0, LIVE: 0, BULK: 0 };
  readonly #onWork: () => void;

  constructor(onWork: () => void) {
    this.#onWork = onWork;
  }

  get length(): number {
    return LANES.reduce((sum, lane) => sum + this.#lanes[lane].length - this.#from[lane], 0);
  }

  add(task: FanOutTask): void {
    this.#lanes[task.lane].push(task);
    this.#onWork();
  }

  take(lanes: readonly Lane[]): FanOutTask | null {
    for (const lane of lanes) {
      const task = this.#lanes[lane][this.#from[lane]];
      if (task === undefined) continue;
      if (++this.#from[lane] > 1_000) this.#lanes[lane].splice(0, this.#from[lane]);
      if (this.#from[lane] > 1_000) this.#from[lane] = 0;
      return task;
    }
    return null;
  }
}
