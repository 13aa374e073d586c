import { Gate } from './gate.ts';

/** The loads that an operation may have under way at the database: its share of the connections of a process. */
const AT_ONCE = 4;

/** The reads of one operation: a few at a time, and none once it is over. */
export class Reading {
  #gate: Gate | null = null;
  #end: Error | null = null;
  #onEnd: ((end: Error) => void)[] = [];

  /** Reads when few others of the operation are under way. What it waits for must not come here itself. */
  run<T>(read: () => Promise<T>): Promise<T> {
    return (this.#gate ??= new Gate(AT_ONCE)).run(() => {
      this.check();
      return read();
    });
  }

  /** @throws what ended the operation, if anything has */
  check(): void {
    if (this.#end !== null) throw this.#end;
  }

  /** Nothing more is read. Only the first end counts. */
  end(reason: Error): void {
    if (this.#end !== null) return;
    this.#end = reason;
    const listeners = this.#onEnd;
    this.#onEnd = [];
    for (const listener of listeners) listener(reason);
  }

  /**
   * The result of the work; rejects when the operation is over before, which it is after so many milliseconds. The work then
   * ends with its next read.
   */
  untilEnd<T>(work: PromiseLike<T>, withinMs: number, late: () => Error): Promise<T> {
    const timer = setTimeout(() => this.end(late()), withinMs);
    const result = new Promise<T>((resolve, reject) => {
      if (this.#end === null) this.#onEnd.push(reject);
      else reject(this.#end);
      work.then(resolve, reject);
    });
    return result.finally(() => clearTimeout(timer));
  }
}
