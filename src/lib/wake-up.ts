/** Lets one loop sleep until woken or until a timeout. A wake-up while nobody sleeps ends the next sleep at once. */
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
