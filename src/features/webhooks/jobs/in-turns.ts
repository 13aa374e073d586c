import type { ActionId } from '../../../domain/action.ts';
import { Gate } from '../../../lib/gate.ts';

interface Place {
  readonly seq: number;
  readonly actionId: ActionId | null;
}

export const CONCURRENT_REQUESTS = 8;

/** Events of one action, in order. */
export interface Turn<T> {
  /** Those that are not finished, the one being sent first. Kept by the work. */
  left: readonly T[];
  /** The round goes on without this turn. Resolves when what is left of it is stored for later. */
  late: Promise<void> | null;
}

export interface TurnWork<T> {
  readonly placeOf: (value: T) => Place;
  /** Once the turn is late, it finishes the first that is left and nothing more. */
  readonly work: (turn: Turn<T>) => Promise<void>;
  /** Stores what is left, so that it is sent later if this process does not finish it. */
  readonly putOff: (left: readonly T[]) => Promise<void>;
}

/**
 * The requests to one receiver: events of different actions concurrently, those of one action together and in order. A request
 * that is not answered holds one place until it ends, while the others go on.
 */
export class Turns {
  readonly #gate = new Gate(CONCURRENT_REQUESTS);
  readonly #slowAfterMs: number;
  readonly #onLateEnded: (error: unknown) => void;
  readonly #late = new Set<Promise<void>>();

  /**
   * @param slowAfterMs how long a round waits for its last requests.
   * @param onLateEnded called when a request ended that a round did not wait for, with its error or null.
   */
  constructor(slowAfterMs: number, onLateEnded: (error: unknown) => void) {
    this.#slowAfterMs = slowAfterMs;
    this.#onLateEnded = onLateEnded;
  }

  /** Resolves when all are finished, or put off because their request is slow. */
  async run<T>(values: readonly T[], { placeOf, work, putOff }: TurnWork<T>): Promise<void> {
    const turns = new Map<ActionId | number, T[]>();
    for (const value of values) {
      const { seq, actionId } = placeOf(value);
      const turn = turns.get(actionId ?? seq);
      if (turn === undefined) turns.set(actionId ?? seq, [value]);
      else turn.push(value);
    }
    if (turns.size === 0) return;
    const running = new Map<Turn<T>, Promise<void>>();
    let waiting = turns.size;
    let noteAllBegun: () => void = () => undefined;
    const allBegun = new Promise<void>((resolve) => {
      noteAllBegun = resolve;
    });
    const bySeq = (a: T, b: T): number => placeOf(a).seq - placeOf(b).seq;
    const ends = [...turns.values()].map((some) => {
      const turn: Turn<T> = { left: some.sort(bySeq), late: null };
      const end = this.#gate.run(async () => {
        waiting -= 1;
        if (waiting === 0) noteAllBegun();
        await work(turn);
      });
      running.set(turn, end);
      const forget = (): void => void running.delete(turn);
      end.then(forget, forget);
      return end;
    });
    const all = Promise.allSettled(ends);
    await allBegun;
    await this.#patience(all);
    const late = [...running].map(([turn, end]) => {
      turn.late = putOff(turn.left);
      this.#finishLater(end);
      return turn.late;
    });
    await Promise.all(late);
    const beside = new Set(running.values());
    for (const done of await Promise.allSettled(ends.filter((end) => !beside.has(end))))
      if (done.status === 'rejected') throw done.reason;
  }

  /** Resolves when no request of earlier rounds is under way. `false`: there was none. */
  async ended(): Promise<boolean> {
    const hadAny = this.#late.size > 0;
    while (this.#late.size > 0) await Promise.all(this.#late);
    return hadAny;
  }

  #finishLater(end: Promise<void>): void {
    const ended = end.then(
      () => null,
      (error: unknown) => error,
    );
    const noted = ended.then((error) => {
      this.#late.delete(noted);
      this.#onLateEnded(error);
    });
    this.#late.add(noted);
  }

  async #patience(all: Promise<unknown>): Promise<void> {
    let over: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      over = setTimeout(resolve, this.#slowAfterMs);
    });
    try {
      await Promise.race([all, patience]);
    } finally {
      clearTimeout(over);
    }
  }
}
