/** Lets one loop sleep until woken or until a timeout. A wake-up while nobody sleeps ends the next sleep at once. */
class WakeUp {
  #isAwake = false;
  #resolve: (() => void) | null = null;

  wake(): void {
    this.#isAwake = true;
    this.#resolve?.();
  }

  async wait(ms: number): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#resolve = null;
    }
    this.#isAwake = false;
  }
}

/** `true`: continue at once. A number: wait at most so many milliseconds. `false`: wait one poll interval. */
export type Next = boolean | number;

/** Runs one piece of work after another in the background; when idle, waits for a wake-up or the poll interval. */
export class PollLoop {
  readonly #work: () => Promise<Next>;
  readonly #pollMs: number;
  readonly #wakeUp = new WakeUp();
  #loop: Promise<void> | null = null;
  #isStopping = false;

  /** @param work does one piece of work; must not reject. */
  constructor(work: () => Promise<Next>, pollMs: number) {
    this.#work = work;
    this.#pollMs = pollMs;
  }

  /** Lets long work end early. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  /** Resolves when the current piece of work has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wakeUp.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const next = await this.#work();
      if (next !== true) await this.#wakeUp.wait(next === false ? this.#pollMs : next);
    }
  }
}
