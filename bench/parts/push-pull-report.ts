import { SETTINGS } from '../../src/config/settings.ts';
import { formatNumber } from '../harness/format.ts';
import { judge, type Figure, type PartReport, type Table, type Verdict } from '../harness/report.ts';
import { ratioOf, summaryOf, type Series } from '../harness/rounds.ts';
import { quantile, summarise } from '../harness/statistics.ts';
import type { Reach, Way } from './push-pull-reach.ts';
import type { ReaderCosts } from './push-pull-readers.ts';

const WAYS = ['push', 'pull'] as const satisfies readonly Way[];
/** Followers of refs that are pushed, at the most. */
const THRESHOLD = Number(SETTINGS.CELEBRITY_THRESHOLD.fallback);

/** What a reader of so many pulled refs pays for them. */
interface Dearer {
  readonly count: number;
  readonly page: number;
  /** Milliseconds more than without any, for each ref, taken round by round. Below zero: noise was larger. */
  readonly perRef: Range;
  /** Pages a follower may read for each action of a ref until pulling costs more work than pushing; null: unknown. */
  readonly breakEven: Range | null;
}

interface Range {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function pushPullReport(reach: Reach, readers: ReaderCosts): PartReport {
  const { followers, done, seenByLast, seenByAny } = reach;
  const perFollower: Series = {
    name: 'push, DONE, for each follower beyond what pulling takes',
    // The two were measured one after the other in the same round.
    values: done.push.values.map(
      (value, round) => ((value - (done.pull.values[round] ?? NaN)) * 1_000) / followers,
    ),
  };
  const push = summaryOf(perFollower);
  const dearer = dearerPages(readers, push.median / 1_000);
  const atThreshold = {
    name: `push, the last of ${THRESHOLD.toLocaleString('en')} followers is reached (derived)`,
    unit: 'ms',
    summary: summarise(
      perFollower.values.map((microseconds) => (microseconds * THRESHOLD) / 1_000),
      'threshold',
    ),
    note: 'the default of CELEBRITY_THRESHOLD',
  };
  const inMilliseconds = (series: Series): Figure => ({
    name: series.name,
    unit: 'ms',
    summary: summaryOf(series),
  });
  const reached = [done, seenByLast, seenByAny].flatMap((pair) =>
    WAYS.map((way) => inMilliseconds(pair[way])),
  );
  const pages = [readers.without, ...readers.following.map(({ p50 }) => p50)].map(inMilliseconds);
  return {
    title: 'Push and pull',
    about: about(reach, readers, { microseconds: push.median, dearer }),
    tables: [tableOf(dearer)],
    figures: [...reached, { name: perFollower.name, unit: 'µs', summary: push }, atThreshold, ...pages],
    verdicts: oneBesideNone(readers),
    charts: [
      bars(
        'push-pull-reach',
        `A new action of a ref with ${followers.toLocaleString('en')} followers`,
        reached,
      ),
      bars('push-pull-pages', `First page of ${String(readers.first)}, p50`, pages),
    ],
    raw: { reach, readers, dearer },
  };
}

function dearerPages({ following }: ReaderCosts, pushMs: number): readonly Dearer[] {
  const [none, ...others] = following;
  if (none === undefined) return [];
  return others.map(({ count, p50 }) => {
    // Both sides of each difference met the same machine.
    const perRef = rangeOf(
      p50.values.map((value, round) => (value - (none.p50.values[round] ?? NaN)) / count),
    );
    const breakEven =
      perRef.min > 0
        ? { median: pushMs / perRef.median, min: pushMs / perRef.max, max: pushMs / perRef.min }
        : null;
    return { count, page: summaryOf(p50).median, perRef, breakEven };
  });
}

function oneBesideNone({ following }: ReaderCosts): Verdict[] {
  const [none, one] = [0, 1].map((wanted) => following.find(({ count }) => count === wanted));
  if (none === undefined || one === undefined) return [];
  const name = 'page of a reader of 1 pulled ref / of none';
  return [judge('pulledPage', { name, unit: '×', summary: ratioOf(one.p50, none.p50) })];
}

function rangeOf(values: readonly number[]): Range {
  return { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

function shown(range: Range | null): string {
  if (range === null) return 'unknown';
  return `${formatNumber(range.median)} (${formatNumber(range.min)}–${formatNumber(range.max)})`;
}

function about(
  { followers }: Reach,
  readers: ReaderCosts,
  derived: { readonly microseconds: number; readonly dearer: readonly Dearer[] },
): readonly string[] {
  const { first, length, each, perDay, refs } = readers;
  const count = (value: number): string => value.toLocaleString('en');
  const { microseconds, dearer } = derived;
  const seconds = formatNumber((microseconds * THRESHOLD) / 1e6);
  const said = dearer.map(({ count: some, breakEven }) => `${shown(breakEven)} with ${count(some)}`);
  return [
    `An action of a ref with ${count(followers)} followers, by the real worker, with CELEBRITY_THRESHOLD above (push) and below (pull) that number, in turn. Seen: the first read of the feed, at the service, that shows it; the last follower is the one who is delivered to last. They look again after 2 ms, then less and less often, down to once in 100 ms, so the later times are exact to about that. DONE includes what these reads take from the machine.`,
    `Pages: the first ${String(first)} entries, at the service, the whole request, of readers with ${count(length)} stored entries, an hour apart. There are ${count(refs)} pulled refs, each with ${count(each)} actions, ${String(perDay)} a day. Only the measured readers follow them: what others follow is not looked at by a page.`,
    `Where the threshold pays. A push costs ${formatNumber(microseconds)} µs for each follower, once for each action; a pull makes every page dearer that a follower reads. Both grow with the number of followers alike, so which of them is less work does not depend on it: pulling is, while a follower reads fewer pages than the break-even for each action of the ref (${said.join(', ')} pulled refs followed). All of it is time on the clock; pushes and pages were measured one after the other, so the break-even tells an order of magnitude. What does grow with the followers is how long the last of them waits, and how long a worker and the database are busy with one action: ${seconds} s at the default threshold of ${count(THRESHOLD)}. That is what the threshold bounds; what it costs are the dearer pages of readers who follow such refs.`,
  ];
}

function tableOf(dearer: readonly Dearer[]): Table {
  return {
    columns: [
      'pulled refs followed',
      'page p50, ms',
      'dearer, ms per ref',
      'break-even: pages a follower reads per action of a ref',
    ],
    rows: dearer.map(({ count, page, perRef, breakEven }) => [
      count.toLocaleString('en'),
      formatNumber(page),
      shown(perRef),
      shown(breakEven),
    ]),
  };
}

function bars(name: string, title: string, figures: readonly Figure[]): PartReport['charts'][number] {
  return {
    kind: 'bars',
    name,
    title,
    unit: 'ms',
    bars: figures.map(({ name: label, summary: { median, min, max } }) => ({
      label,
      value: median,
      min,
      max,
    })),
  };
}
