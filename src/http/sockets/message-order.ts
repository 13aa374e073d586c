import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Passes on the messages of one socket in order. A large message gets a separate turn of the event loop, since reading it
 * has blocked the loop; later messages wait for it.
 */
export class MessageOrder {
  readonly #onError: (error: unknown) => void;
  #last: Promise<void> | null = null;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(isLarge: boolean, hand: () => void): void {
    if (!isLarge && this.#last === null) {
      hand();
      return;
    }
    const turn = this.#handLater(this.#last, hand).catch(this.#onError);
    this.#last = turn;
    void turn.then(() => {
      if (this.#last === turn) this.#last = null;
    });
  }

  async #handLater(before: Promise<void> | null, hand: () => void): Promise<void> {
    await before;
    await nextTurn();
    hand();
  }
}
