import { judge, type Figure, type PartReport } from '../harness/report.ts';
import { ratioOf, seriesNamed, summaryOf, type Series } from '../harness/rounds.ts';

export const NAMES = {
  raw: 'two raw queries, p50',
  known: 'service, reader known, p50',
  service: 'service, whole request, p50',
  named: 'service, with names, p50',
  httpLean: 'HTTP, lean page, p50',
  bareLean: 'bare Yoga, same bytes as lean, p50',
  httpShown: 'HTTP, shown page, p50',
  bareShown: 'bare Yoga, same bytes as shown, p50',
  httpLeanRate: 'HTTP, lean page, 10 at a time',
  bareLeanRate: 'bare Yoga, same bytes as lean, 10 at a time',
  httpShownRate: 'HTTP, shown page, 10 at a time',
  bareShownRate: 'bare Yoga, same bytes as shown, 10 at a time',
} as const;

export interface PageMeasurements {
  readonly first: number;
  readonly length: number;
  readonly leanBytes: number;
  readonly shownBytes: number;
  /** Milliseconds of the p50s, pages/s of the rates. */
  readonly series: readonly Series[];
  /** Of the API process for a shown page, 10 at a time, in milliseconds. */
  readonly cpu: Series;
}

export function pageReport(measured: PageMeasurements): PartReport {
  const { series, cpu, first, length, leanBytes, shownBytes } = measured;
  const get = (name: keyof typeof NAMES): Series => seriesNamed(series, NAMES[name]);
  const sum = (a: Series, b: Series): Series => ({
    name: `${a.name} + ${b.name}`,
    values: a.values.map((value, round) => value + (b.values[round] ?? NaN)),
  });
  const ratio = (name: string, a: Series, b: Series, note: string): Figure => ({
    name,
    unit: '×',
    summary: ratioOf(a, b),
    note,
  });
  const figures: Figure[] = series.map((entry) => ({
    name: entry.name,
    unit: entry.name.endsWith('at a time') ? 'pages/s' : 'ms',
    summary: summaryOf(entry),
  }));
  return {
    title: 'A page of a feed',
    about: [
      `The first ${String(first)} of ${String(length)} entries. The raw queries are those that the service sends, by the plain driver.`,
      'Reader known: the marks of the reader (two queries, once a request) were loaded before the clock started. Whole request: they were not, and are loaded while the feed is read.',
      `Lean (${String(leanBytes)} bytes): what the action itself says. Shown (${String(shownBytes)} bytes): also names of actors, labels of refs and a line of words with names, as a frontend shows them; the service with names loads the same.`,
      'HTTP and bare Yoga are servers in processes of their own, asked over kept connections by one client. Bare Yoga is as its documentation shows it, without authentication or limits, and answers with one string.',
    ],
    figures,
    verdicts: [
      judge(
        'page',
        ratio('service / raw queries, reader known', get('known'), get('raw'), 'two round trips each'),
      ),
      judge(
        'page',
        ratio(
          'service / raw queries, whole request',
          get('service'),
          get('raw'),
          'two round trips each, four queries to two',
        ),
      ),
      ...(['lean', 'shown'] as const).map((kind) =>
        judge(
          'httpPage',
          ratio(
            `HTTP, ${kind} page / (two raw queries + bare Yoga)`,
            get(kind === 'lean' ? 'httpLean' : 'httpShown'),
            sum(get('raw'), get(kind === 'lean' ? 'bareLean' : 'bareShown')),
            'p50, one at a time; the raw queries bring neither names nor labels',
          ),
        ),
      ),
      judge('pageCpu', { name: cpu.name, unit: 'ms', summary: summaryOf(cpu) }),
    ],
    charts: [
      {
        kind: 'bars',
        name: 'page',
        title: `Page of ${String(first)}, one at a time, p50`,
        unit: 'ms',
        bars: figures
          .filter(({ unit }) => unit === 'ms')
          .map(({ name, summary: { median, min, max } }) => ({ label: name, value: median, min, max })),
      },
    ],
    raw: { ...measured },
  };
}
