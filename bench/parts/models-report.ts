import type { BarChart } from '../harness/chart.ts';
import { formatNumber } from '../harness/format.ts';
import { judge, type Figure, type PartReport, type Table, type Verdict } from '../harness/report.ts';
import { seriesNamed, summaryOf, type Series } from '../harness/rounds.ts';
import { once, summarise, type Summary } from '../harness/statistics.ts';
import type { ModelsSizes } from '../world/models-load.ts';
import type { ChangeSeries } from './models-changes.ts';
import type { Deliveries } from './models-deliveries.ts';
import { PLACES, type PageSeries, type Place, type Places } from './models-pages.ts';
import type { Stored } from './models-storage.ts';

export interface ModelsMeasurements extends Deliveries {
  readonly trace: string;
  readonly sizes: ModelsSizes;
  readonly places: Places;
  readonly stored: ReadonlyMap<string, Stored>;
  readonly pages: readonly PageSeries[];
  readonly changes: readonly ChangeSeries[];
}

/** All that was measured of one model. Null: it stores nothing, so there is no such thing. */
interface Row {
  readonly model: string;
  readonly deliveries: Summary | null;
  readonly pages: Readonly<Record<Place, { readonly p50: Summary; readonly p99: Summary }>>;
  readonly bytes: Summary | null;
  readonly documentBytes: Summary | null;
  /** Microseconds per item. */
  readonly bump: Summary | null;
  readonly again: Summary | null;
  readonly removal: Summary | null;
}

const NONE = 'n/a';

export function modelsReport(measured: ModelsMeasurements): PartReport {
  const rows = measured.changes.map((change) => rowOf(measured, change));
  const names = placeNames(measured.places);
  const holders = String(measured.sizes.holders);
  const columns: readonly Column[] = [
    { name: 'deliveries', chart: 'deliveries', unit: 'items/s', of: (row) => row.deliveries },
    ...PLACES.flatMap((place): Column[] => [
      { name: `${names[place]}, p50`, chart: `page-${place}`, unit: 'ms', of: (row) => row.pages[place].p50 },
      { name: `${names[place]}, p99`, chart: null, unit: 'ms', of: (row) => row.pages[place].p99 },
    ]),
    { name: 'stored item', chart: 'bytes', unit: 'bytes', of: (row) => row.bytes },
    { name: 'stored item, documents alone', chart: null, unit: 'bytes', of: (row) => row.documentBytes },
    { name: 'bump by days, per item', chart: 'bump', unit: 'µs', of: (row) => row.bump },
    { name: 'bump by moments, per item', chart: null, unit: 'µs', of: (row) => row.again },
    { name: `delete with ${holders} items`, chart: 'delete', unit: 'ms', of: (row) => row.removal },
  ];
  return {
    title: 'Feed models',
    about: about(measured),
    tables: [tableOf(rows, columns)],
    figures: rows.flatMap((row) => figuresOf(row, columns)),
    verdicts: rows.flatMap(verdictsOf),
    charts: columns.flatMap((column) => chartOf(rows, column)),
    raw: {
      ...measured,
      stored: Object.fromEntries(measured.stored),
    },
  };
}

function about({ trace, sizes, places, delivered, stored, rates }: ModelsMeasurements): readonly string[] {
  const { actions, extra, readers, cap, holders } = sizes;
  const count = (value: number): string => value.toLocaleString('en');
  const without = [...stored].filter(([, { entries }]) => entries === 0).map(([model]) => model);
  const notified = without.map((model) => formatNumber(summaryOf(seriesNamed(rates, model)).median));
  return [
    `All models in one run, each with a database and a worker of its own, in turn: A B C, C B A, … Of the ${trace}, the first ${count(actions)}: ${count(delivered)} deliveries to each model. FEED_CAP=${String(cap)}.`,
    `Deliveries: from the call of publishActions to DONE of the last action, by the real worker, four actions at a time.`,
    `Pages of ${String(places.first)} at the service, the whole request, by the ${String(readers)} readers with the longest feeds. ${count(extra)} older actions that only they follow make their feeds longer than the cap; they were rebuilt before, so that what is stored ends at the cap. Beyond the cap a page comes from the actions themselves. All models were seen to give the same pages. p99: of the pages of all rounds together.`,
    'Stored item: tables and indexes as the engine has them on disk after the deliveries, with the space of old versions that it has not given back, and for Redis the memory of its keys; divided by the items held. The documents alone: their BSON; Redis has none.',
    `Bump: an action of a month ago in ${count(holders)} feeds is commented on; by days: it moves so far; by moments: the comment after that. From the claim of the pass to DONE, per item. Delete: from the call of deleteAction to DONE, when nobody holds the action.`,
    ...without.map(
      (model, index) =>
        `${NONE}: \`${model}\` stores nothing, so nothing is delivered, bumped or removed. Its pass still goes through the audience to notify the watchers: ${notified[index] ?? ''} readers/s.`,
    ),
  ];
}

function placeNames({ first, starts }: Places): Readonly<Record<Place, string>> {
  const pageAt = (place: Place): string => String(Math.floor(starts[place] / first) + 1);
  return {
    first: 'first page',
    deep: `page ${pageAt('deep')}`,
    beyond: `page ${pageAt('beyond')}, beyond the cap`,
  };
}

function rowOf(measured: ModelsMeasurements, change: ChangeSeries): Row {
  const { model, bump, again, removal } = change;
  const { rates, stored, pages, sizes } = measured;
  const held = stored.get(model);
  const isStored = held !== undefined && held.entries > 0;
  const perItem = ({ name, values }: Series): Summary =>
    summarise(
      values.map((milliseconds) => (milliseconds * 1_000) / sizes.holders),
      name,
    );
  const page = (place: Place): { p50: Summary; p99: Summary } => {
    const found = pages.find((entry) => entry.model === model && entry.place === place);
    if (found === undefined) throw new Error(`No page of ${model} was measured`);
    return { p50: summaryOf(found.p50), p99: once(found.p99, `p99 of ${model}`) };
  };
  const each = (bytes: number): Summary | null =>
    isStored && bytes > 0 ? summarise([bytes / held.entries], model) : null;
  return {
    model,
    deliveries: isStored ? summaryOf(seriesNamed(rates, model)) : null,
    pages: { first: page('first'), deep: page('deep'), beyond: page('beyond') },
    bytes: each(held?.bytes ?? 0),
    documentBytes: each(held?.documentBytes ?? 0),
    bump: isStored ? perItem(bump) : null,
    again: isStored ? perItem(again) : null,
    removal: isStored ? summaryOf(removal) : null,
  };
}

interface Column {
  readonly name: string;
  /** What its chart is called; null: none is drawn. */
  readonly chart: string | null;
  readonly unit: string;
  readonly of: (row: Row) => Summary | null;
}

/** The models whose deliveries have a target. */
const ROWS = [
  ['time-buckets', 'timeBuckets'],
  ['size-buckets', 'sizeBuckets'],
  ['top-cache', 'topCache'],
] as const;

function verdictsOf({ model, deliveries }: Row): Verdict[] {
  const row = ROWS.find(([name]) => name === model)?.[1];
  if (row === undefined || deliveries === null) return [];
  return [judge(row, { name: `${model}: deliveries`, unit: 'items/s', summary: deliveries })];
}

/** One line per model, with the medians. */
function tableOf(rows: readonly Row[], columns: readonly Column[]): Table {
  return {
    columns: ['model', ...columns.map(({ name, unit }) => `${name}, ${unit}`)],
    rows: rows.map((row) => [
      row.model,
      ...columns.map((column) => {
        const summary = column.of(row);
        return summary === null ? NONE : formatNumber(summary.median);
      }),
    ]),
  };
}

function figuresOf(row: Row, columns: readonly Column[]): Figure[] {
  return columns.flatMap((column) => {
    const summary = column.of(row);
    return summary === null ? [] : [{ name: `${row.model}: ${column.name}`, unit: column.unit, summary }];
  });
}

function chartOf(rows: readonly Row[], { name, chart, unit, of }: Column): BarChart[] {
  if (chart === null) return [];
  const bars = rows.flatMap((row) => {
    const summary = of(row);
    return summary === null
      ? []
      : [{ label: row.model, value: summary.median, min: summary.min, max: summary.max }];
  });
  return [{ kind: 'bars', name: `models-${chart}`, title: `Feed models: ${name}`, unit, bars }];
}
