/** The sum of each metric over its labels, of a Prometheus page. Of histograms the count and the sum. */
export function sumsOf(text: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-zA-Z_:][\w:]*)(?:\{[^}]*\})? (\S+)/.exec(line) ?? [];
    if (name === undefined || name.endsWith('_bucket')) continue;
    const number = Number(value);
    if (Number.isFinite(number)) sums.set(name, (sums.get(name) ?? 0) + number);
  }
  return sums;
}

/** The labels of a metric that has one line, such as those that end in `_info`. */
export function labelsOf(text: string, name: string): ReadonlyMap<string, string> {
  const line = text.split('\n').find((one) => one.startsWith(`${name}{`)) ?? '';
  return new Map([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]));
}

export interface Sample {
  readonly at: number;
  readonly sums: ReadonlyMap<string, number>;
}

export interface Point {
  readonly at: number;
  readonly value: number;
}

/** Per second between two samples each. What began again at zero gives no point, nor do two of one moment. */
export function ratesOf(samples: readonly Sample[], name: string): Point[] {
  return samples.slice(1).flatMap(({ at, sums }, index) => {
    const before = samples[index];
    if (before === undefined) return [];
    const by = (sums.get(name) ?? 0) - (before.sums.get(name) ?? 0);
    return by < 0 || at === before.at ? [] : [{ at, value: by / ((at - before.at) / 1_000) }];
  });
}

export function valuesOf(samples: readonly Sample[], name: string): Point[] {
  return samples.map(({ at, sums }) => ({ at, value: sums.get(name) ?? 0 }));
}
