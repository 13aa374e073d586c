import { LANES, type Lane } from '../../domain/lane.ts';
import { OnDispose } from '../../lib/on-dispose.ts';
import { LaneQueue, type WorkKind } from './lane-queue.ts';

export type { WorkKind } from './lane-queue.ts';

/** One chunk of work: which lane it is in and whose it is. */
export interface ChunkOf {
  readonly lane: Lane;
  readonly kind: WorkKind;
}

/** Chunks of everything that are under way at the same time: more of them only wait for each other in the database. */
const WIDTH = 12;
/** Of those, bulk while it is alone: more of it is hardly faster, and what comes without warning finds the database busy. */
const MOST_BULK = 2;
/** While something urgent is under way. Never none, so that no lane starves. */
const MOST_LIVE_BESIDE_URGENT = 4;
/** Beside something more urgent, bulk goes on with one chunk at a time, and rests so many times as long as that took. */
const REST_SHARE = 3;
/** The longest of these rests. */
const MAX_REST_MS = 1_000;
/** For so long after something more urgent has ended, bulk still gives way: more of it often follows. */
const LINGER_MS = 1_000;
/** Where several lanes wait, how many chunks of one there are to those of another. */
const SHARES: Readonly<Record<Lane, number>> = { URGENT: 16, LIVE: 4, BULK: 1 };

/**
 * Decides which chunk of work is next, for all that works in the background of a process. The most urgent lane has the
 * most of it, every lane gets its share, and within a lane the kinds of work take turns. A lane gives way while a pass of
 * a more urgent one is under way: what it has begun it ends, and goes on with few chunks at a time. Bulk also rests between
 * them, and gives way for a moment longer: the database is the same for the requests of people, which no gate sees.
 */
export class LaneGate {
  readonly #lanes: Readonly<Record<Lane, LaneQueue>> = {
    URGENT: new LaneQueue(),
    LIVE: new LaneQueue(),
    BULK: new LaneQueue(),
  };
  #running = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Less urgent lanes give way until disposed. For a pass as a whole: it does more than its chunks. */
  enter(lane: Lane): Disposable {
    this.#lanes[lane].passes += 1;
    return new OnDispose(() => {
      this.#lanes[lane].passes -= 1;
      this.#lanes[lane].endedAt = performance.now();
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
    const begunAt = performance.now();
    try {
      return await task();
    } finally {
      const now = performance.now();
      queue.running -= 1;
      queue.endedAt = now;
      queue.restsUntil = now + Math.min(MAX_REST_MS, REST_SHARE * (now - begunAt));
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
    // One look at the clock: a rest that ended between two would be waited for by nothing.
    const now = performance.now();
    while (this.#running < WIDTH) {
      const lane = this.#next(now);
      if (lane === null) {
        this.#lookAgain(now);
        return;
      }
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
  #next(now: number): Lane | null {
    let next: Lane | null = null;
    for (const lane of LANES) {
      const queue = this.#lanes[lane];
      if (!queue.isWaiting || !this.#mayBegin(lane, now)) continue;
      if (next === null || queue.spent < this.#lanes[next].spent) next = lane;
    }
    return next;
  }

  #mayBegin(lane: Lane, now: number): boolean {
    const { URGENT, LIVE, BULK } = this.#lanes;
    if (lane === 'URGENT') return true;
    if (lane === 'LIVE') return !URGENT.isUnderWay || LIVE.running < MOST_LIVE_BESIDE_URGENT;
    const givesWay = [URGENT, LIVE].some(
      ({ isUnderWay, endedAt }) => isUnderWay || now - endedAt < LINGER_MS,
    );
    return givesWay ? BULK.running === 0 && now >= BULK.restsUntil : BULK.running < MOST_BULK;
  }

  /** What rests is not woken by anything that ends. */
  #lookAgain(now: number): void {
    const { BULK } = this.#lanes;
    const waitMs = BULK.restsUntil - now;
    if (!BULK.isWaiting || waitMs <= 0 || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#begin();
    }, Math.ceil(waitMs));
  }
}
