import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest time that work may block the event loop, in milliseconds. */
const TURN_MS = 10;

/** Keeps long loops from blocking the event loop: `if (turn.isOver()) await turn.next();` */
export class Turn {
  #since = performance.now();

  /** Whether the work has run long enough that other requests wait for it. */
  isOver(): boolean {
    return performance.now() - this.#since > TURN_MS;
  }

  /** Lets other work run, then starts a new turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
