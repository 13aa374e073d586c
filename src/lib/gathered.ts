export interface Gathering<T> {
  /** Upper bound on what is done at once: on the number of calls, or on their sizes. */
  readonly most: number;
  /** The part of `most` that a call takes. One that takes more than all is done at once: it neither waits nor is waited for. */
  readonly sizeOf?: (value: T) => number;
  /** Calls with equal names are one until their work begins. Default: each call is one of its own. */
  readonly nameOf?: (value: T) => string;
  /** How much work may be under way. Default: 1 */
  readonly atOnce?: number;
  /** Milliseconds from the start of one work to that of the next, so that more calls gather meanwhile. Default: none */
  readonly everyMs?: number;
  /** See `inParts`. Default: never, as for writes that must not be done twice. */
  readonly mayBeOfOne?: (error: unknown) => boolean;
}

interface Batch<T, R> {
  readonly values: T[];
  readonly named: Map<string, Promise<R>>;
  size: number;
  readonly begin: () => void;
  readonly done: Promise<Parts<R>>;
}

/**
 * Calls that are made while work is under way are done together in the next one. Each resolves to what the work gave that it was
 * part of. No call is part of work that began before it, and nothing is kept.
 */
export function gathered<T, R>(
  work: (values: readonly T[]) => Promise<R>,
  { most, sizeOf = one, nameOf, atOnce = 1, everyMs = 0, mayBeOfOne = never }: Gathering<T>,
): (value: T) => Promise<R> {
  const waiting: Batch<T, R>[] = [];
  let underWay = 0;
  let isScheduled = false;
  let nextAt = 0;

  // Callers that are answered in one turn of the event loop call again in it.
  function schedule(ms = 0): void {
    if (isScheduled) return;
    isScheduled = true;
    if (ms === 0) setImmediate(start);
    else setTimeout(start, ms);
  }

  function start(): void {
    isScheduled = false;
    while (waiting.length > 0 && underWay < atOnce) {
      const now = performance.now();
      if (now < nextAt) {
        schedule(nextAt - now);
        return;
      }
      nextAt = now + everyMs;
      underWay += 1;
      waiting.shift()?.begin();
    }
  }

  function open(size: number): Batch<T, R> {
    const last = waiting.at(-1);
    if (last !== undefined && last.size + size <= most) return last;
    const values: T[] = [];
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const done = begun.then(() => inParts(values, work, mayBeOfOne));
    const batch = { values, named: new Map<string, Promise<R>>(), size: 0, begin, done };
    waiting.push(batch);
    void done.then(() => {
      underWay -= 1;
      if (waiting.length > 0) schedule();
    });
    schedule();
    return batch;
  }

  return (value) => {
    const name = nameOf?.(value);
    const known = name === undefined ? undefined : namedIn(waiting, name);
    if (known !== undefined) return known;
    const size = sizeOf(value);
    if (size > most) return work([value]);
    const batch = open(size);
    const index = batch.values.push(value) - 1;
    batch.size += size;
    const result = batch.done.then((parts) => parts(index));
    if (name !== undefined) batch.named.set(name, result);
    return result;
  };
}

const one = (): number => 1;
const never = (): boolean => false;

function namedIn<T, R>(batches: readonly Batch<T, R>[], name: string): Promise<R> | undefined {
  for (const { named } of batches) {
    const known = named.get(name);
    if (known !== undefined) return known;
  }
  return undefined;
}

/** What the work gave to the value with this index. @throws the error with which it failed */
export type Parts<R> = (index: number) => R;

/**
 * Does work for several values together. If it fails with an error that may be of one of them, it is done again for each half, down to
 * single values: so the others have their results. Never rejects.
 */
export async function inParts<T, R>(
  values: readonly T[],
  work: (values: readonly T[]) => Promise<R>,
  mayBeOfOne: (error: unknown) => boolean,
): Promise<Parts<R>> {
  try {
    const result = await work(values);
    return () => result;
  } catch (error) {
    if (values.length === 1 || !mayBeOfOne(error))
      return () => {
        throw error;
      };
    const half = Math.ceil(values.length / 2);
    const [first, second] = await Promise.all([
      inParts(values.slice(0, half), work, mayBeOfOne),
      inParts(values.slice(half), work, mayBeOfOne),
    ]);
    return (index) => (index < half ? first(index) : second(index - half));
  }
}
