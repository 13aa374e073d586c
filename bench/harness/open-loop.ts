import { Latencies, type LoadResult } from './latencies.ts';
import { now } from './statistics.ts';

/** One kind of operation under load. */
export interface Operation {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** It goes past the server, to have something to hold its operations against, and is not counted among them. */
  readonly isLimit?: boolean;
}

/** Operations that take turns. */
export interface Share {
  /** Weight among the arrivals. */
  readonly share: number;
  readonly turns: readonly Operation[];
}

/** One operation that was answered. */
export interface Answered {
  readonly operation: Operation;
  /** When it ended, in milliseconds since the first arrival. */
  readonly at: number;
  /** Milliseconds since it should have started: waiting counts. */
  readonly sinceIntended: number;
  /** Milliseconds since it was started: how late the generator was does not count. */
  readonly sinceStarted: number;
}

export interface LoadOptions {
  readonly shares: readonly Share[];
  /** Arrivals a second, whatever becomes of those before. */
  readonly rate: number;
  readonly seconds: number;
  /** Arrivals that are not answered yet, beyond which the load is called off. */
  readonly maxOpen: number;
  readonly random: () => number;
  readonly onAnswered?: (answered: Answered) => void;
}

export interface LoadOutcome {
  /** Of each operation, in the order in which they were given. */
  readonly results: readonly LoadResult[];
  /** Of all operations but the limits. */
  readonly all: LoadResult;
  /** How late the generator itself started operations. */
  readonly lateness: LoadResult;
  /** Answered a second, without the limits, from the first arrival to the last answer. */
  readonly throughput: number;
  /** More arrivals were unanswered than allowed: the rate is beyond what can be served. */
  readonly isOverrun: boolean;
  /** What the first operation that failed said. */
  readonly firstFailure: string | null;
}

const TICK_MS = 1;

/** Starts operations at a fixed rate, on time, and measures each from when it should have started. */
export async function openLoop(options: LoadOptions): Promise<LoadOutcome> {
  const { shares, rate, seconds, maxOpen, random, onAnswered } = options;
  const tally = new Tally(shares.flatMap(({ turns }) => turns));
  const next = chooser(shares, random);
  const open = new Set<Promise<void>>();
  const arrivals = Math.max(1, Math.round(rate * seconds));
  const start = now();
  let isOverrun = false;
  const launch = (operation: Operation, intended: number): void => {
    const started = now();
    tally.lateness.record(started - intended);
    const run = operation
      .run()
      .then(
        () => {
          const ended = now();
          const sinceIntended = ended - intended;
          tally.record(operation, sinceIntended);
          onAnswered?.({ operation, at: ended - start, sinceIntended, sinceStarted: ended - started });
        },
        (error: unknown) => {
          tally.fail(operation, error);
        },
      )
      .finally(() => open.delete(run));
    open.add(run);
  };
  for (let arrival = 0; arrival < arrivals && !isOverrun;) {
    for (; arrival < arrivals && (arrival / rate) * 1_000 <= now() - start; arrival++)
      launch(next(), start + (arrival / rate) * 1_000);
    isOverrun = open.size > maxOpen;
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(open);
  return tally.outcome((now() - start) / 1_000, isOverrun);
}

class Tally {
  readonly lateness = new Latencies('start of an operation by the generator');
  readonly #all = new Latencies('all operations');
  readonly #each: ReadonlyMap<Operation, Latencies>;
  #firstFailure: string | null = null;

  constructor(operations: readonly Operation[]) {
    this.#each = new Map(operations.map((operation) => [operation, new Latencies(operation.name)]));
  }

  record(operation: Operation, milliseconds: number): void {
    this.#each.get(operation)?.record(milliseconds);
    if (operation.isLimit !== true) this.#all.record(milliseconds);
  }

  fail(operation: Operation, error: unknown): void {
    this.#each.get(operation)?.fail();
    if (operation.isLimit !== true) this.#all.fail();
    this.#firstFailure ??= `${operation.name}: ${error instanceof Error ? error.message : String(error)}`;
  }

  outcome(seconds: number, isOverrun: boolean): LoadOutcome {
    const all = this.#all.result();
    return {
      results: [...this.#each.values()].map((latencies) => latencies.result()),
      all,
      lateness: this.lateness.result(),
      throughput: all.count / seconds,
      isOverrun,
      firstFailure: this.#firstFailure,
    };
  }
}

function chooser(shares: readonly Share[], random: () => number): () => Operation {
  const whole = shares.reduce((sum, { share }) => sum + share, 0);
  const taken = new Map<Share, number>();
  return () => {
    let rest = random() * whole;
    const chosen = shares.find(({ share }) => (rest -= share) < 0) ?? shares.at(-1);
    if (chosen === undefined) throw new Error('There is nothing to do');
    const turn = taken.get(chosen) ?? 0;
    taken.set(chosen, turn + 1);
    const operation = chosen.turns[turn % chosen.turns.length];
    if (operation === undefined) throw new Error('A share of the load has no operation');
    return operation;
  };
}
