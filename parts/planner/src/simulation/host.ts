import TinyQueue from 'tinyqueue';
import type { Timeline } from './timeline.ts';

interface Job {
  /** Its end, in terms of the work every job has received since the start. */
  readonly doneAt: number;
  readonly done: () => void;
}

/** Smaller differences are rounding errors. */
const NOTHING = 1e-12;

/**
 * A machine whose cores are shared equally by all jobs, each on at most one core, as by an operating system's scheduler.
 * Instead of updating all jobs at every change, it tracks the work that one job has received so far.
 */
export class Host {
  readonly cores: number;
  /** Seconds of CPU done, and requested. */
  worked = 0;
  asked = 0;
  /** Number of running jobs, integrated over time. */
  jobSeconds = 0;
  readonly #timeline: Timeline;
  readonly #jobs = new TinyQueue<Job>([], (a, b) => a.doneAt - b.doneAt);
  #given = 0;
  #lookedAt = 0;
  #looks = 0;

  constructor(timeline: Timeline, cores: number) {
    this.#timeline = timeline;
    this.cores = cores;
  }

  get jobs(): number {
    return this.#jobs.length;
  }

  run(cpuSeconds: number, done: () => void): void {
    this.#goOn();
    this.asked += cpuSeconds;
    this.#jobs.push({ doneAt: this.#given + cpuSeconds, done });
    this.#look();
  }

  get #share(): number {
    return this.#jobs.length === 0 ? 0 : Math.min(1, this.cores / this.#jobs.length);
  }

  #goOn(): void {
    const seconds = this.#timeline.now - this.#lookedAt;
    this.#lookedAt = this.#timeline.now;
    this.jobSeconds += seconds * this.#jobs.length;
    this.worked += seconds * this.#share * this.#jobs.length;
    this.#given += seconds * this.#share;
  }

  /** When the next job ends, if nothing happens before: only the latest appointment counts. */
  #look(): void {
    const next = this.#jobs.peek();
    if (next === undefined) return;
    const look = ++this.#looks;
    this.#timeline.after((next.doneAt - this.#given) / this.#share, () => {
      if (look === this.#looks) this.#end(next.doneAt);
    });
  }

  #end(upTo: number): void {
    this.#goOn();
    this.#given = Math.max(this.#given, upTo);
    const ended: Job[] = [];
    for (let job = this.#jobs.peek(); job !== undefined; job = this.#jobs.peek()) {
      if (job.doneAt > this.#given + NOTHING) break;
      ended.push(job);
      this.#jobs.pop();
    }
    this.#look();
    for (const { done } of ended) done();
  }
}

/** A single thread: does one thing after another, on a host shared with others. */
export class Thread {
  readonly #host: Host;
  readonly #waiting: { readonly cpuSeconds: number; readonly done: () => void }[] = [];
  #from = 0;
  #isBusy = false;

  constructor(host: Host) {
    this.#host = host;
  }

  run(cpuSeconds: number, done: () => void): void {
    this.#waiting.push({ cpuSeconds, done });
    if (!this.#isBusy) this.#next();
  }

  #next(): void {
    const task = this.#waiting[this.#from++];
    this.#isBusy = task !== undefined;
    if (this.#from > 1_000 || task === undefined) {
      this.#waiting.splice(0, this.#from);
      this.#from = 0;
    }
    if (task === undefined) return;
    this.#host.run(task.cpuSeconds, () => {
      // Follow-up work queues behind waiting work, and finds the thread busy.
      task.done();
      this.#next();
    });
  }
}
