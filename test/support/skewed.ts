/** Does the work in a process whose machine's clock is ahead by so much, or behind. */
export async function skewed<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  const RightDate = globalThis.Date;
  class SkewedDate extends RightDate {
    constructor(...args: [] | [value: string | number | Date]) {
      super(args[0] ?? RightDate.now() + byMs);
    }

    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof RightDate;
    }

    static override now(): number {
      return RightDate.now() + byMs;
    }
  }
  globalThis.Date = SkewedDate as unknown as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = RightDate;
  }
}
