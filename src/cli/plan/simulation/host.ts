import TinyQueue from 'tinyqueue';
import type { Timeline } from './timeline.ts';

interface Job {
  /** When it is done, by what every job has been given since the beginning. */
  readonly doneAt: number;
  readonly done: () => void;
}

/** Less than this is a rounding error of moments. */
const NOTHING = 1e-12;

/**
 * A machine with some cores that all jobs share alike, none of them on more than one: as a system schedules processes.
 * Instead of going through all jobs at every change, it counts what one job has been given so far.
 */
export class Host {
  readonly cores: number;
  /** Seconds of CPU done, and asked for. */
  worked = 0;
  asked = 0;
  /** Jobs under way, added up over time. */
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

  /** When the next one ends, if nothing comes between: only the latest look counts. */
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

/** One thread: it does one thing after the other, on a host that others may use too. */
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
      // What it leads to comes behind what waits already, and finds the thread busy.
      task.done();
      this.#next();
    });
  }
}
