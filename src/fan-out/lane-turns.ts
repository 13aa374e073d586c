import { LANES, type Lane } from '../domain/lane.ts';

/** Kinds of work that take turns within a lane. */
export type WorkKind = 'fan-out' | 'rebuild' | 'rename';

/** The queued chunks of one lane, and the gate's accounting for the lane. */
class LaneQueue {
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

/** One chunk of work, with its lane and kind. */
export interface ChunkOf {
  readonly lane: Lane;
  readonly kind: WorkKind;
}

/** Concurrent chunks in total: more would only wait for each other in the database. */
const WIDTH = 12;
/** Concurrent bulk chunks when nothing else runs. More would hardly be faster, and new work would find the database busy. */
const MOST_BULK = 2;
/** Concurrent live chunks while urgent work runs. Never zero, so that no lane starves. */
const MOST_LIVE_BESIDE_URGENT = 4;
/** While more urgent work runs, bulk does one chunk at a time and then pauses for this multiple of its duration. */
const REST_SHARE = 3;
/** Upper bound of such a pause. */
const MAX_REST_MS = 1_000;
/** Bulk keeps yielding this long after more urgent work has ended, since more often follows. */
const LINGER_MS = 1_000;
/** Relative number of chunks per lane when several lanes wait. */
const SHARES: Readonly<Record<Lane, number>> = { URGENT: 16, LIVE: 4, BULK: 1 };

/** Decides which chunk is next. Has no clock, so that the gate and the simulation of `fanfare plan` can share it. */
export class LaneTurns {
  readonly #lanes: Readonly<Record<Lane, LaneQueue>> = {
    URGENT: new LaneQueue(),
    LIVE: new LaneQueue(),
    BULK: new LaneQueue(),
  };
  #running = 0;

  /** A pass starts: less urgent lanes yield until `passEnded`. */
  passBegun(lane: Lane): void {
    this.#lanes[lane].passes += 1;
  }

  passEnded(lane: Lane, now: number): void {
    this.#lanes[lane].passes -= 1;
    this.#lanes[lane].endedAt = now;
  }

  /** Queues a chunk. */
  add({ lane, kind }: ChunkOf, begin: () => void): void {
    const queue = this.#lanes[lane];
    if (!queue.isWaiting && queue.running === 0) queue.spent = Math.max(queue.spent, this.#leastSpent());
    queue.add(kind, begin);
  }

  /** Takes the next chunk, which then counts as started. `null`: none may start now. */
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

  /** Milliseconds until waiting bulk may start even if nothing ends before; 0: no such time. */
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

  /** Idle lanes collect no credit: a lane that starts to wait begins at the others' level. */
  #leastSpent(): number {
    const busy = LANES.map((lane) => this.#lanes[lane]).filter(
      (queue) => queue.isWaiting || queue.running > 0,
    );
    return busy.length === 0 ? 0 : Math.min(...busy.map(({ spent }) => spent));
  }

  /** Among waiting lanes with room, the one that has used least of its share; the most urgent on ties. */
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
