import { isMoreUrgent, LANES, type Lane } from '../../domain/lane.ts';
import { OnDispose } from '../../lib/on-dispose.ts';

/** What takes turns within a lane. */
export type WorkKind = 'fan-out' | 'rebuild' | 'rename';

/** One chunk of work: which lane it is in and whose it is. */
export interface ChunkOf {
  readonly lane: Lane;
  readonly kind: WorkKind;
}

/** Chunks of everything that are under way at the same time: more of them only wait for each other in the database. */
const WIDTH = 12;
/** Of those, of one lane, while nothing more urgent is under way. */
const MOST: Readonly<Record<Lane, number>> = { URGENT: WIDTH, LIVE: WIDTH, BULK: 4 };
/** Of those, of one lane, while something more urgent is under way. Never none, so that no lane starves. */
const GIVING_WAY: Readonly<Record<Lane, number>> = { URGENT: WIDTH, LIVE: 4, BULK: 1 };
/** Where several lanes wait, how many chunks of one there are to those of another. */
const SHARES: Readonly<Record<Lane, number>> = { URGENT: 16, LIVE: 4, BULK: 1 };

class LaneQueue {
  running = 0;
  /** Passes under way, waiting or not. */
  passes = 0;
  /** Chunks begun, each divided by the share of the lane. */
  spent = 0;
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

/**
 * Decides which chunk of work is next, for all that works in the background of a process. The most urgent lane has the
 * most of it, every lane gets its share, and within a lane the kinds of work take turns. A lane gives way while a pass of
 * a more urgent one is under way: what it has begun it ends, and goes on with few chunks at a time.
 */
export class LaneGate {
  readonly #lanes: Readonly<Record<Lane, LaneQueue>> = {
    URGENT: new LaneQueue(),
    LIVE: new LaneQueue(),
    BULK: new LaneQueue(),
  };
  #running = 0;

  /** Less urgent lanes give way until disposed. For a pass as a whole: it does more than its chunks. */
  enter(lane: Lane): Disposable {
    this.#lanes[lane].passes += 1;
    return new OnDispose(() => {
      this.#lanes[lane].passes -= 1;
      this.#begin();
    });
  }

  /** Does one chunk when it is its turn. A chunk must not wait for another. */
  async run<T>({ lane, kind }: ChunkOf, task: () => Promise<T>): Promise<T> {
    const queue = this.#lanes[lane];
    if (!queue.isWaiting && queue.running === 0) queue.spent = Math.max(queue.spent, this.#leastSpent());
    const turn = new Promise<void>((resolve) => {
      queue.add(kind, resolve);
    });
    this.#begin();
    await turn;
    try {
      return await task();
    } finally {
      queue.running -= 1;
      this.#running -= 1;
      this.#begin();
    }
  }

  /** Who was idle has saved nothing up: a lane that begins to wait stands where the others are. */
  #leastSpent(): number {
    const busy = LANES.map((lane) => this.#lanes[lane]).filter(
      (queue) => queue.isWaiting || queue.running > 0,
    );
    return busy.length === 0 ? 0 : Math.min(...busy.map(({ spent }) => spent));
  }

  #begin(): void {
    while (this.#running < WIDTH) {
      const lane = this.#next();
      if (lane === null) return;
      const queue = this.#lanes[lane];
      const begin = queue.take();
      if (begin === undefined) return;
      queue.running += 1;
      queue.spent += 1 / SHARES[lane];
      this.#running += 1;
      begin();
    }
  }

  /** Of the lanes that wait and have room, the one that had the least of its share; of equals the most urgent. */
  #next(): Lane | null {
    let next: Lane | null = null;
    for (const lane of LANES) {
      const queue = this.#lanes[lane];
      if (!queue.isWaiting || queue.running >= this.#room(lane)) continue;
      if (next === null || queue.spent < this.#lanes[next].spent) next = lane;
    }
    return next;
  }

  #room(lane: Lane): number {
    const givesWay = LANES.some((other) => isMoreUrgent(other, lane) && this.#lanes[other].isUnderWay);
    return givesWay ? GIVING_WAY[lane] : MOST[lane];
  }
}
