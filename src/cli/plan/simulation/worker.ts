import { LANES, type Lane } from '../../../domain/lane.ts';
import { LaneTurns } from '../../../workers/fan-out/lane-turns.ts';
import type { Host } from './host.ts';
import { Thread } from './host.ts';
import type { FanOutQueue, FanOutTask } from './queue.ts';
import { costAmong, type FanOutSystem, type WorkCost } from './system.ts';
import type { Timeline } from './timeline.ts';

/** Chunks of one pass that are under way at the same time, as in `workers/fan-out/deliver.ts`. */
const CHUNKS_AT_ONCE = 3;
/** Of what a pass costs, the part of finding the fan-out, one after the other, and that of reading who follows. */
export const CLAIM_SHARE = 0.3;
const READING_SHARE = 0.2;

export interface WorkerWorld {
  readonly timeline: Timeline;
  readonly system: FanOutSystem;
  readonly database: Host;
  readonly queue: FanOutQueue;
  readonly host: Host;
  /** So many readers of a task have it, at the timeline's moment. */
  readonly onDelivered: (task: FanOutTask, readers: number) => void;
  readonly onDone: (task: FanOutTask) => void;
}

/** A worker process: takes one fan-out after the other, runs some side by side, chunk by chunk, in the turns of the lanes. */
export class SimulatedWorker {
  readonly #world: WorkerWorld;
  readonly #thread: Thread;
  readonly #turns = new LaneTurns();
  /** Each with when its lease was renewed last. */
  readonly #running: Readonly<Record<Lane, Map<FanOutTask, number>>> = {
    URGENT: new Map(),
    LIVE: new Map(),
    BULK: new Map(),
  };
  #isTaking = false;
  /** When turns are given next though nothing ends, in milliseconds. */
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

  /** Looks for the next fan-out: one look at a time. */
  look(): void {
    if (this.#isDead || this.#isTaking) return;
    const { concurrency } = this.#world.system;
    const task = this.#world.queue.take(LANES.filter((lane) => this.#running[lane].size < concurrency));
    if (task === null) return;
    this.#isTaking = true;
    this.#renew(task);
    this.#pass(CLAIM_SHARE, () => {
      this.#isTaking = false;
      this.#turns.passBegun(task.lane);
      this.#pass(READING_SHARE, () => {
        this.#begin(task);
      });
      this.look();
    });
  }

  /** What it was at is lost; the fan-outs it had taken wait until their leases have ended. */
  die(): void {
    this.#isDead = true;
    const { timeline, system, queue } = this.#world;
    const third = system.leaseSeconds / 3;
    for (const [task, renewedAt] of LANES.flatMap((lane) => [...this.#running[lane]])) {
      // Beside what it does, it renews a lease three times within its length.
      const ago = (timeline.now - renewedAt) % third;
      timeline.after(system.leaseSeconds - ago, () => {
        queue.add(task);
      });
    }
  }

  #renew(task: FanOutTask): void {
    this.#running[task.lane].set(task, this.#world.timeline.now);
  }

  /** What a pass costs beside the others that this worker has now. */
  #passCost(): WorkCost {
    const running = LANES.reduce((sum, lane) => sum + this.#running[lane].size, 0);
    return costAmong(this.#world.system.costs.pass, running);
  }

  #pass(share: number, then: () => void): void {
    const { process, database, wait, onPath = 1 } = this.#passCost();
    const part = share * onPath;
    this.#work({ process: process * part, database: database * part, wait: wait * share }, then);
  }

  #finish(): void {
    const { process, database, onPath = 1 } = this.#passCost();
    this.#thread.run(process * (1 - onPath), () => undefined);
    this.#world.database.run(database * (1 - onPath), () => undefined);
  }

  /** The process first, then the database, then waiting. A dead process does not hear of the end. */
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
      const cost = {
        process: delivery.process * readers,
        database: delivery.database * readers,
        wait: chunkWait,
      };
      this.#work(cost, () => {
        onDelivered(task, task.deliver(from, to));
        // As the worker has it: each full chunk is a checkpoint.
        if (readers === sizeOfChunk(task, system)) this.#renew(task);
        this.#turns.ended(task.lane, begunAt * 1_000, timeline.now * 1_000);
        then();
        this.#giveTurns();
      });
    });
    this.#giveTurns();
  }

  #end(task: FanOutTask): void {
    this.#pass(1 - CLAIM_SHARE - READING_SHARE, () => {
      this.#turns.passEnded(task.lane, this.#world.timeline.now * 1_000);
      this.#finish();
      this.#running[task.lane].delete(task);
      this.#world.onDone(task);
      this.#giveTurns();
      this.look();
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
    // Never so little that the clock stands still.
    timeline.after(Math.max(restMs, 0.001) / 1_000, () => {
      // Something shorter may have come in between.
      if (this.#restsUntil === until) this.#restsUntil = Infinity;
      if (!this.#isDead) this.#giveTurns();
    });
  }
}

/** As the worker has it: chunks of bulk are half as large. */
function sizeOfChunk({ lane }: FanOutTask, { chunkSize }: FanOutSystem): number {
  return lane === 'BULK' ? Math.ceil(chunkSize / 2) : chunkSize;
}
