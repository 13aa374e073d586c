import { now, quantile } from './statistics.ts';

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
}

/** Percentiles of what was answered, in milliseconds. */
export interface LoadResult {
  readonly name: string;
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface LoadOutcome {
  readonly answered: readonly Answered[];
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
  /** Operations that failed, and what the first of them said. */
  readonly failed: number;
  readonly firstFailure: string | null;
}

const TICK_MS = 1;

/** Starts operations at a fixed rate, on time, and measures each from when it should have started. */
export async function openLoop(options: LoadOptions): Promise<LoadOutcome> {
  const { shares, rate, seconds, maxOpen, random } = options;
  const next = chooser(shares, random);
  const open = new Set<Promise<void>>();
  const answered: Answered[] = [];
  const late: number[] = [];
  const failures: string[] = [];
  const arrivals = Math.max(1, Math.round(rate * seconds));
  const start = now();
  const launch = (operation: Operation, intended: number): void => {
    const started = now();
    late.push(started - intended);
    const run = operation
      .run()
      .then(
        () => {
          const ended = now();
          const [sinceIntended, sinceStarted] = [ended - intended, ended - started];
          answered.push({ operation, at: ended - start, sinceIntended, sinceStarted });
        },
        (error: unknown) => {
          failures.push(`${operation.name}: ${error instanceof Error ? error.message : String(error)}`);
        },
      )
      .finally(() => open.delete(run));
    open.add(run);
  };
  let isOverrun = false;
  for (let arrival = 0; arrival < arrivals && !isOverrun;) {
    for (; arrival < arrivals && (arrival / rate) * 1_000 <= now() - start; arrival++)
      launch(next(), start + (arrival / rate) * 1_000);
    isOverrun = open.size > maxOpen;
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(open);
  const took = (now() - start) / 1_000;
  const own = answered.filter(({ operation }) => operation.isLimit !== true);
  const of = (name: string, list: readonly Answered[]): LoadResult =>
    percentiles(
      name,
      list.map(({ sinceIntended }) => sinceIntended),
    );
  return {
    ...{ answered, isOverrun, failed: failures.length, firstFailure: failures[0] ?? null },
    results: shares
      .flatMap(({ turns }) => turns)
      .map((operation) =>
        of(
          operation.name,
          answered.filter((one) => one.operation === operation),
        ),
      ),
    all: of('all operations', own),
    lateness: percentiles('start of an operation by the generator', late),
    throughput: own.length / took,
  };
}

export function percentiles(name: string, values: readonly number[]): LoadResult {
  const at = (share: number): number => quantile(values, share);
  return {
    ...{ name, count: values.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999) },
    max: at(1),
  };
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
