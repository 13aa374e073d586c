import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long work may go on before others have their turn, in milliseconds. */
const TURN_MS = 10;

/** One turn of the event loop, in long work on many entries: `if (turn.isOver()) await turn.next();` */
export class Turn {
  #since = performance.now();

  /** Whether the work has gone on for so long that requests of others wait for it. */
  isOver(): boolean {
    return performance.now() - this.#since > TURN_MS;
  }

  /** Lets others run, and begins another turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
