import { LANES, type Lane } from '../../domain/lane.ts';
import { LaneQueue, type WorkKind } from './lane-queue.ts';

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

/** Which chunk is next, without a clock of its own: the gate goes by it, and so does the simulation of `fanfare plan`. */
export class LaneTurns {
  readonly #lanes: Readonly<Record<Lane, LaneQueue>> = {
    URGENT: new LaneQueue(),
    LIVE: new LaneQueue(),
    BULK: new LaneQueue(),
  };
  #running = 0;

  /** A pass as a whole begins: less urgent lanes give way until `passEnded`. */
  passBegun(lane: Lane): void {
    this.#lanes[lane].passes += 1;
  }

  passEnded(lane: Lane, now: number): void {
    this.#lanes[lane].passes -= 1;
    this.#lanes[lane].endedAt = now;
  }

  /** A chunk that waits for its turn. */
  add({ lane, kind }: ChunkOf, begin: () => void): void {
    const queue = this.#lanes[lane];
    if (!queue.isWaiting && queue.running === 0) queue.spent = Math.max(queue.spent, this.#leastSpent());
    queue.add(kind, begin);
  }

  /** Takes the chunk whose turn it is, which counts as begun. Null: none may begin now. */
  take(now: number): (() => void) | null {
    if (this.#running >= WIDTH) return null;
    const lane = this.#next(now);
    if (lane === null) return null;
    const queue = this.#lanes[lane];
    const begin = queue.take();
    if (begin === undefined) return null;
    queue.running += 1;
    queue.spent += 1 / SHARES[lane];
    this.#running += 1;
    return begin;
  }

  ended(lane: Lane, begunAt: number, now: number): void {
    const queue = this.#lanes[lane];
    queue.running -= 1;
    queue.endedAt = now;
    queue.restsUntil = now + Math.min(MAX_REST_MS, REST_SHARE * (now - begunAt));
    this.#running -= 1;
  }

  /** How long until bulk that waits may begin although nothing ends until then; 0: that hangs on no clock. */
  restMs(now: number): number {
    const { URGENT, LIVE, BULK } = this.#lanes;
    if (this.#running >= WIDTH || !BULK.isWaiting) return 0;
    if (BULK.running === 0) return Math.max(0, BULK.restsUntil - now);
    if (BULK.running >= MOST_BULK || URGENT.isUnderWay || LIVE.isUnderWay) return 0;
    return Math.max(0, this.#lingersUntil() - now);
  }

  #lingersUntil(): number {
    return Math.max(this.#lanes.URGENT.endedAt, this.#lanes.LIVE.endedAt) + LINGER_MS;
  }

  /** Who was idle has saved nothing up: a lane that begins to wait stands where the others are. */
  #leastSpent(): number {
    const busy = LANES.map((lane) => this.#lanes[lane]).filter(
      (queue) => queue.isWaiting || queue.running > 0,
    );
    return busy.length === 0 ? 0 : Math.min(...busy.map(({ spent }) => spent));
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
    const givesWay = URGENT.isUnderWay || LIVE.isUnderWay || this.#lingersUntil() > now;
    return givesWay ? BULK.running === 0 && now >= BULK.restsUntil : BULK.running < MOST_BULK;
  }
}
