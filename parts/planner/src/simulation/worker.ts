import { LANES, type Lane } from '../../../../src/domain/lane.ts';
import { LaneTurns } from '../../../../src/fan-out/lane-turns.ts';
import type { Host } from './host.ts';
import {
  besideOf,
  CANDIDATES,
  CLAIM_COMMANDS,
  CLAIM_SHARE,
  LOOK_AHEAD_SHARE,
  onPathOf,
  PIECES,
  READING_COMMANDS,
} from './pass-shares.ts';
import { Thread } from './host.ts';
import { sizeOfChunk, type FanOutQueue, type FanOutTask } from './queue.ts';
import { costAmong, type FanOutSystem, type Offer, type WorkCost } from './system.ts';
import type { Timeline } from './timeline.ts';

/** Concurrent chunks of one pass, as in `fan-out/deliver.ts`. */
const CHUNKS_AT_ONCE = 3;
export interface WorkerWorld {
  readonly timeline: Timeline;
  readonly system: FanOutSystem;
  readonly database: Host;
  readonly queue: FanOutQueue;
  readonly host: Host;
  /** More is due than this worker was woken for: another one may help. */
  readonly passOn: (worker: SimulatedWorker) => void;
  /** So many readers of a task have it, at the current time. */
  readonly onDelivered: (task: FanOutTask, readers: number) => void;
  readonly onDone: (task: FanOutTask) => void;
}

/**
 * A worker process: claims one fan-out after another and runs several concurrently, chunk by chunk, in the turns of the
 * lanes.
 */
export class SimulatedWorker {
  readonly #world: WorkerWorld;
  readonly #thread: Thread;
  readonly #turns = new LaneTurns();
  /** By the time their lease was last renewed. */
  readonly #running: Readonly<Record<Lane, Map<FanOutTask, number>>> = {
    URGENT: new Map(),
    LIVE: new Map(),
    BULK: new Map(),
  };
  #isLooking = false;
  /** It heard of this since its last look began, or it has reason of its own to look again. */
  #offer: Offer | null = null;
  /** It has woken another worker since it was last idle. */
  #hasPassedOn = false;
  #lookedAt = 0;
  /** Earliest time of the next search for expired leases. */
  #takeOverAt = 0;
  /** When to give turns next even if nothing ends, in milliseconds. */
  #restsUntil = Infinity;
  #isDead = false;

  constructor(world: WorkerWorld) {
    this.#world = world;
    this.#thread = new Thread(world.host);
  }

  get readersLeft(): number {
    const tasks = LANES.flatMap((lane) => [...this.#running[lane].keys()]);
    return tasks.reduce((sum, { readers, reached }) => sum + readers - reached, 0);
  }

  get hasWork(): boolean {
    return LANES.some((lane) => this.#running[lane].size > 0);
  }

  /** When it looks next if nothing wakes it. */
  pollsAt(from: number): number {
    const { pollSeconds } = this.#world.system;
    return this.#lookedAt + Math.ceil(Math.max(0, from - this.#lookedAt) / pollSeconds) * pollSeconds;
  }

  /** One of those that hear of it looks. One with a full lane looks in any case, and leaves it to others. */
  onOffer(offer: Offer): void {
    if (this.#isDead) return;
    const { concurrency, costs } = this.#world.system;
    if (this.#isLooking) this.#offer = this.#offer?.isTaken === false ? this.#offer : offer;
    else if (LANES.some((lane) => this.#running[lane].size >= concurrency)) this.look();
    else if (!offer.isTaken) {
      offer.isTaken = true;
      this.look();
    } else if (costs.wake !== undefined) this.#work({ ...costs.wake, wait: 0 }, () => undefined);
  }

  /** Looks for the next fan-out, one look at a time. */
  look(): void {
    if (this.#isDead) return;
    const lanes = this.#lanesWithRoom();
    if (this.#isLooking || lanes.length === 0) {
      this.#offer = { isTaken: false };
      return;
    }
    const { timeline, queue, system } = this.#world;
    this.#isLooking = true;
    this.#offer = null;
    this.#lookedAt = timeline.now;
    const takesOver = timeline.now >= this.#takeOverAt;
    this.#command(CLAIM_SHARE / CLAIM_COMMANDS, 1, () => {
      const found = queue.due(lanes, { count: CANDIDATES, takesOver });
      if (found.length === 0 && takesOver) this.#takeOverAt = timeline.now + system.pollSeconds;
      this.#take(found, found.length);
    });
  }

  // One candidate after another: workers that look at the same time find the same ones.
  #take([next, ...others]: readonly FanOutTask[], found: number): void {
    if (next === undefined) {
      // Others have claimed all of them, and there may be more.
      if (found === CANDIDATES) this.#lookAgain();
      else this.#lookAhead();
      return;
    }
    this.#command(CLAIM_SHARE / CLAIM_COMMANDS, 1, () => {
      if (!this.#world.queue.take(next)) {
        this.#take(others, found);
        return;
      }
      this.#renew(next);
      this.#turns.passBegun(next.lane);
      this.#read(next, READING_COMMANDS);
      if (found > 1 && !this.#hasPassedOn) {
        this.#hasPassedOn = true;
        this.#world.passOn(this);
      }
      if (found === 1) this.#lookAhead();
      else {
        this.#workBeside(LOOK_AHEAD_SHARE, () => undefined);
        this.#lookAgain();
      }
    });
  }

  /** When the next one is due; then it sleeps, unless it was woken in between. */
  #lookAhead(): void {
    this.#workBeside(LOOK_AHEAD_SHARE, () => {
      this.#isLooking = false;
      this.#hasPassedOn = false;
      const offer = this.#offer;
      this.#offer = null;
      if (offer !== null) this.onOffer(offer);
    });
  }

  #lookAgain(): void {
    this.#isLooking = false;
    this.look();
  }

  #lanesWithRoom(): readonly Lane[] {
    return LANES.filter((lane) => this.#running[lane].size < this.#world.system.concurrency);
  }

  /** Its running work is lost; its fan-outs wait until their leases expire and another worker looks for them. */
  die(): void {
    this.#isDead = true;
    const { timeline, system, queue } = this.#world;
    queue.leave();
    const third = system.leaseSeconds / 3;
    for (const [task, renewedAt] of LANES.flatMap((lane) => [...this.#running[lane]])) {
      // Apart from other work, it renews leases three times per period.
      const ago = (timeline.now - renewedAt) % third;
      timeline.after(system.leaseSeconds - ago, () => {
        queue.expire(task);
      });
    }
  }

  #renew(task: FanOutTask): void {
    this.#running[task.lane].set(task, this.#world.timeline.now);
  }

  /** Cost of a pass, given the other passes this worker has now. */
  #passCost(coming = 0): WorkCost {
    const running = LANES.reduce((sum, lane) => sum + this.#running[lane].size, 0);
    return costAmong(this.#world.system.costs.pass, running + coming);
  }

  #read(task: FanOutTask, commands: number): void {
    if (commands === 0) {
      this.#begin(task);
      return;
    }
    this.#command((1 - CLAIM_SHARE) / READING_COMMANDS, 0, () => {
      this.#read(task, commands - 1);
    });
  }

  /** A share of the work before the pass has ended. */
  #command(share: number, coming: number, then: () => void): void {
    this.#work(onPathOf(this.#passCost(coming), share), then);
  }

  #workBeside(share: number, then: () => void): void {
    this.#work(besideOf(this.#passCost(), share), then);
  }

  /** The process first, then the database, then waiting. A dead process does not notice the end. */
  #work(cost: WorkCost, then: () => void): void {
    const { database, timeline } = this.#world;
    this.#thread.run(cost.process, () => {
      if (this.#isDead) return;
      database.run(cost.database, () => {
        timeline.after(cost.wait, () => {
          if (!this.#isDead) then();
        });
      });
    });
  }

  #begin(task: FanOutTask): void {
    const size = sizeOfChunk(task, this.#world.system);
    let next = task.reached;
    let open = 0;
    const more = (): void => {
      while (open < CHUNKS_AT_ONCE && next < task.readers) {
        const from = next;
        next = Math.min(task.readers, from + size);
        open += 1;
        this.#chunk(task, { from, to: next }, () => {
          open -= 1;
          more();
        });
      }
      if (open === 0) this.#end(task);
    };
    more();
  }

  #chunk(task: FanOutTask, { from, to }: { from: number; to: number }, then: () => void): void {
    const { timeline, system, onDelivered } = this.#world;
    const { delivery, chunkWait } = system.costs;
    const readers = to - from;
    this.#turns.add({ lane: task.lane, kind: 'fan-out' }, () => {
      const begunAt = timeline.now;
      const pieces = 2 * Math.ceil((PIECES / 2) * Math.min(1, readers / system.chunkSize));
      const piece = (delivery.process * readers) / pieces;
      const written = { process: piece, database: delivery.database * readers, wait: chunkWait };
      const done = (): void => {
        onDelivered(task, task.deliver(from, to));
        // Like the worker, sets a checkpoint after each full chunk.
        if (readers === sizeOfChunk(task, system)) this.#renew(task);
        this.#turns.ended(task.lane, begunAt * 1_000, timeline.now * 1_000);
        then();
        this.#giveTurns();
      };
      this.#pieces(pieces / 2 - 1, piece, () => {
        this.#work(written, () => {
          this.#pieces(pieces / 2, piece, done);
        });
      });
    });
    this.#giveTurns();
  }

  #pieces(count: number, cpuSeconds: number, then: () => void): void {
    if (count <= 0) then();
    else
      this.#thread.run(cpuSeconds, () => {
        if (!this.#isDead) this.#pieces(count - 1, cpuSeconds, then);
      });
  }

  /** Everybody has it when the last chunk is written; the pass ends with one more command. */
  #end(task: FanOutTask): void {
    const { timeline, onDone } = this.#world;
    onDone(task);
    this.#workBeside(1 - LOOK_AHEAD_SHARE, () => {
      this.#turns.passEnded(task.lane, timeline.now * 1_000);
      const wasFull = this.#running[task.lane].size >= this.#world.system.concurrency;
      this.#running[task.lane].delete(task);
      this.#giveTurns();
      if (wasFull) this.look();
    });
  }

  #giveTurns(): void {
    const { timeline } = this.#world;
    const now = timeline.now * 1_000;
    for (let begin = this.#turns.take(now); begin !== null; begin = this.#turns.take(now)) begin();
    const restMs = this.#turns.restMs(now);
    if (restMs <= 0 || this.#restsUntil <= now + restMs) return;
    const until = now + restMs;
    this.#restsUntil = until;
    // Never so short that the clock does not advance.
    timeline.after(Math.max(restMs, 0.001) / 1_000, () => {
      // Something shorter may have come in between.
      if (this.#restsUntil === until) this.#restsUntil = Infinity;
      if (!this.#isDead) this.#giveTurns();
    });
  }
}
