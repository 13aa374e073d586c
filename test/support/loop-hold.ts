import { readFileSync } from 'node:fs';

const TICK_MS = 2;

/** CPU time of the main thread in milliseconds; of the whole process where the system does not tell threads apart. */
function cpuTime(): number {
  try {
    const [nanoseconds] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  }
}

/**
 * Measures for how long the event loop of this process is blocked: the CPU time between two ticks of a short timer. What
 * the machine does meanwhile for others does not count, so that a busy machine measures the same.
 */
export class LoopHold {
  #cpu = cpuTime();
  #longest = 0;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => {
      this.#tick();
    }, TICK_MS);
    this.#timer.unref();
  }

  /** The longest time since it was last taken, in milliseconds of CPU. */
  take(): number {
    this.#tick();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  #tick(): void {
    const cpu = cpuTime();
    this.#longest = Math.max(this.#longest, cpu - this.#cpu);
    this.#cpu = cpu;
  }
}
