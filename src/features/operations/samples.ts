import type { RedisPart } from '../../connections/redis-parts.ts';
import { FanfareError } from '../../domain/errors.ts';
import { clock } from '../../lib/clock.ts';
import { LAG_BUCKETS, type Totals } from '../../telemetry/metrics.ts';

/** A sample is of so long a time, in milliseconds. */
export const SAMPLE_MS = 10_000;
export const MAX_SAMPLES = 360;
const KEPT_SECONDS = 3_700;
/** Lags are those of so many samples: of one alone there would often be none. */
const LAG_SAMPLES = 6;

const COUNTED = [
  'published',
  'deliveries',
  'failedAttempts',
  'requests',
  'errors',
  'liveEvents',
  'resyncs',
] as const;

/** Totals of all processes for ten seconds. */
export interface Sample extends Readonly<Record<(typeof COUNTED)[number], number>> {
  /** When they began. */
  readonly at: Date;
  readonly watchers: number;
  /** `null`: no worker ran. */
  readonly pending: number | null;
  /**
   * Half of the first deliveries in the minute until the end took no longer, in milliseconds, estimated; `null`: there was none, or over
   * two hours.
   */
  readonly lagP50: number | null;
  readonly lagP99: number | null;
}

/** The last hour of an installation, in one Redis hash for every ten seconds. */
export class Samples {
  readonly #commands: RedisPart['commands'];
  readonly #prefix: string;

  constructor({ commands, prefix }: RedisPart) {
    this.#commands = commands;
    this.#prefix = prefix;
  }

  #keyOf(slot: number): string {
    return `${this.#prefix}samples:${String(slot)}`;
  }

  /** Adds to the sample of a time, in milliseconds. @param pending called in one of the processes that have it */
  async add(change: Totals, pending: (() => Promise<number>) | null, now = clock.time()): Promise<void> {
    const key = this.#keyOf(Math.floor(now / SAMPLE_MS));
    const fields = [
      ...[...COUNTED, 'watchers' as const].map((name) => [name, change[name]] as const),
      ...[...change.lags].map(([bound, count]) => [`lag ${String(bound)}`, count] as const),
    ].filter(([, value]) => value !== 0);
    const counts = pending === null ? 'processes' : 'workers';
    // At once, so that nothing is left without an end.
    const added = this.#commands.multi().hincrby(key, counts, 1).expire(key, KEPT_SECONDS);
    for (const [name, value] of fields) added.hincrbyfloat(key, name, value);
    const [[error, count] = [null]] = (await added.exec()) ?? [];
    if (error !== null) throw error;
    if (count === 1 && pending !== null) await this.#commands.hset(key, 'pending', await pending());
  }

  /** @throws FanfareError UNAVAILABLE */
  async #read(slots: readonly number[]): Promise<readonly Readonly<Record<string, string>>[]> {
    const reading = this.#commands.pipeline();
    for (const slot of slots) reading.hgetall(this.#keyOf(slot));
    try {
      const answers = (await reading.exec()) ?? [];
      return answers.map(([error, hash]) => {
        if (error !== null) throw error;
        return hash as Readonly<Record<string, string>>;
      });
    } catch (cause) {
      throw new FanfareError('UNAVAILABLE', 'Figures cannot be read at the moment', { cause });
    }
  }

  /** Complete samples, the oldest first. @throws FanfareError UNAVAILABLE */
  async lastHour(asOf = clock.time()): Promise<Sample[]> {
    const first = Math.floor(asOf / SAMPLE_MS) - MAX_SAMPLES;
    // Earlier samples are only for lags.
    const slots = Array.from(
      { length: MAX_SAMPLES + LAG_SAMPLES - 1 },
      (_, n) => first - LAG_SAMPLES + 1 + n,
    );
    const hashes = await this.#read(slots);
    return slots.flatMap((slot, index) => {
      const fields = hashes[index] ?? {};
      if (slot < first || Object.keys(fields).length === 0) return [];
      const lags = new Map<number, number>();
      for (const of of hashes.slice(index - LAG_SAMPLES + 1, index + 1))
        for (const [name, value] of Object.entries(of))
          if (name.startsWith('lag '))
            lags.set(Number(name.slice(4)), (lags.get(Number(name.slice(4))) ?? 0) + Number(value));
      const counts = Object.fromEntries(COUNTED.map((name) => [name, Number(fields[name] ?? 0)]));
      return [
        {
          ...(counts as Record<(typeof COUNTED)[number], number>),
          at: new Date(slot * SAMPLE_MS),
          watchers: Number(fields['watchers'] ?? 0),
          pending: fields['pending'] === undefined ? null : Number(fields['pending']),
          ...{ lagP50: lagOf(lags, 0.5), lagP99: lagOf(lags, 0.99) },
        },
      ];
    });
  }
}

/** The share's place in its bucket as if the bucket were filled evenly, in milliseconds; `null`: there was none, or it has no bound. */
function lagOf(lags: ReadonlyMap<number, number>, share: number): number | null {
  const of = (bound: number): number => lags.get(bound) ?? 0;
  const rank = of(Infinity) * share;
  const at = LAG_BUCKETS.findIndex((one) => of(one) >= rank);
  const [from = 0, to] = [LAG_BUCKETS[at - 1], LAG_BUCKETS[at]];
  if (rank === 0 || to === undefined) return null;
  return Math.round(1_000 * (from + ((to - from) * (rank - of(from))) / (of(to) - of(from))));
}

function changeOf(now: Totals, before: Totals): Totals {
  const by = COUNTED.map((name) => [name, now[name] - before[name]]);
  return {
    ...now,
    ...(Object.fromEntries(by) as Record<(typeof COUNTED)[number], number>),
    lags: new Map([...now.lags].map(([bound, count]) => [bound, count - (before.lags.get(bound) ?? 0)])),
  };
}

/** Adds what happens in this process to the samples, from now on, every ten seconds. */
export function startSampling({
  samples,
  totals,
  pending,
  onError,
}: {
  readonly samples: Samples;
  readonly totals: () => Promise<Totals>;
  /** `null`: this process is no worker. */
  readonly pending: (() => Promise<number>) | null;
  readonly onError: (error: unknown) => void;
}): AsyncDisposable {
  let before = totals();
  let adding: Promise<void> | null = null;
  const add = async (): Promise<void> => {
    const [last, now] = [before, totals()];
    before = now;
    await samples.add(changeOf(await now, await last), pending);
  };
  const timer = setInterval(() => {
    // Totals that a slow sample leaves out come with the next.
    adding ??= add()
      .catch(onError)
      .finally(() => {
        adding = null;
      });
  }, SAMPLE_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await adding;
    },
  };
}
