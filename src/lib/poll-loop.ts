import { WakeUp } from './wake-up.ts';

/** Whether to go on at once, or for how many milliseconds to wait at most. False: for the time between two looks. */
export type Next = boolean | number;

/** Does one piece of work after the other in the background; where there is none, waits until it is woken or for a time. */
export class PollLoop {
  readonly #work: () => Promise<Next>;
  readonly #pollMs: number;
  readonly #wakeUp = new WakeUp();
  #loop: Promise<void> | null = null;
  #isStopping = false;

  /** @param work does one piece. It must not reject. */
  constructor(work: () => Promise<Next>, pollMs: number) {
    this.#work = work;
    this.#pollMs = pollMs;
  }

  /** For work that is to end early. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  /** Resolves when the piece under way has ended. Idempotent. */
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
