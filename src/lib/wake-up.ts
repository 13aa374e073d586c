/** Lets one loop sleep until it is woken or a time has passed. A call while nobody sleeps cuts the next sleep short. */
export class WakeUp {
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
