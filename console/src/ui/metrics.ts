export interface Read {
  /** The sum of each metric over its labels. Of histograms the count and the sum. */
  readonly sums: ReadonlyMap<string, number>;
  /** Of the time from published to delivered: how many took at most so many seconds. */
  readonly lags: ReadonlyMap<number, number>;
}

const LAG = 'fanfare_delivery_lag_seconds_bucket';

/** What a Prometheus page says. */
export function readOf(text: string): Read {
  const [sums, lags] = [new Map<string, number>(), new Map<number, number>()];
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(\{[^}]*\})? (\S+)/.exec(line) ?? [];
    const number = Number(value);
    if (name === undefined || !Number.isFinite(number)) continue;
    if (name === LAG) {
      const bound = /le="([^"]+)"/.exec(labels)?.[1] ?? '';
      const seconds = bound === '+Inf' ? Infinity : Number(bound);
      lags.set(seconds, (lags.get(seconds) ?? 0) + number);
    } else if (!name.endsWith('_bucket')) sums.set(name, (sums.get(name) ?? 0) + number);
  }
  return { sums, lags };
}

/** The labels of a metric that has one line, such as those that end in `_info`. */
export function labelsOf(text: string, name: string): ReadonlyMap<string, string> {
  const line = text.split('\n').find((one) => one.startsWith(`${name}{`)) ?? '';
  return new Map([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]));
}

export interface Sample extends Read {
  readonly at: number;
}

export interface Point {
  readonly at: number;
  readonly value: number;
}

/** Per second between two samples each. What began again at zero counts from there. */
export function ratesOf(samples: readonly Sample[], name: string): Point[] {
  return samples.slice(1).map(({ at, sums }, index) => {
    const before = samples[index];
    const by = (sums.get(name) ?? 0) - (before?.sums.get(name) ?? 0);
    return { at, value: Math.max(0, by) / Math.max(1, (at - (before?.at ?? 0)) / 1_000) };
  });
}

export function valuesOf(samples: readonly Sample[], name: string): Point[] {
  return samples.map(({ at, sums }) => ({ at, value: sums.get(name) ?? 0 }));
}

/** Over so many samples: of one alone there would often be none. */
const WINDOW = 12;

/**
 * In ms, at most how long the given share of deliveries took in the last minute before each sample: the bound of the bucket it
 * falls into. 0 where there was none.
 */
export function lagsOf(samples: readonly Sample[], share: number): Point[] {
  return samples.slice(1).map(({ at, lags }, index) => {
    const before = samples[Math.max(0, index + 1 - WINDOW)]?.lags ?? new Map<number, number>();
    const since = [...lags].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
    const all = since.find(([bound]) => bound === Infinity)?.[1] ?? 0;
    const [bound = 0] = since.find(([, count]) => all > 0 && count >= all * share) ?? [];
    const highest = Math.max(...since.map(([one]) => (one === Infinity ? 0 : one)));
    return { at, value: Math.min(bound, highest) * 1_000 };
  });
}
