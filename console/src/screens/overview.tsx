import '../later.css';
import { useQuery } from '@fanfare/react';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { shownNumber } from '../ui/count.ts';
import { fetchReadiness } from '../ui/health.ts';
import type { Point } from '../ui/plot.tsx';
import { SAMPLE_MS, SAMPLES, type Sample } from '../ui/samples.ts';
import { States } from '../ui/states.tsx';
import { useEvery } from '../ui/use-every.ts';
import { WORK, type Work } from '../ui/work.ts';

const EVERY_MS = 2_000;
const LEAST_MS = 300_000;
/** Where the charts cannot be loaded the figures still say the most. */
const Plot = lazy(() =>
  import('../ui/plot.tsx').then(
    ({ Plot: loaded }) => ({ default: loaded }),
    () => ({ default: () => null }),
  ),
);

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly { readonly name: string; readonly of: (sample: Sample) => number | null }[];
}

const rate = (title: string, name: keyof Sample): Chart => ({
  ...{ title, unit: '/ s' },
  lines: [{ name, of: (sample) => Number(sample[name]) / (SAMPLE_MS / 1_000) }],
});
const level = (title: string, name: 'pending' | 'watchers'): Chart => ({
  ...{ title, unit: '' },
  lines: [{ name, of: (sample) => sample[name] }],
});

const CHARTS: readonly Chart[] = [
  {
    ...{ title: 'Published → delivered', unit: 'ms' },
    lines: [
      { name: 'p50', of: ({ lagP50 }) => lagP50 },
      { name: 'p99', of: ({ lagP99 }) => lagP99 },
    ],
  },
  rate('Deliveries', 'deliveries'),
  level('Waiting for delivery', 'pending'),
  rate('Published', 'published'),
  level('Watchers', 'watchers'),
  rate('Live events', 'liveEvents'),
  rate('Resyncs', 'resyncs'),
  {
    ...{ title: 'Requests', unit: '/ s' },
    lines: [
      { name: 'all', of: ({ requests }) => requests / (SAMPLE_MS / 1_000) },
      { name: 'with an error', of: ({ errors }) => errors / (SAMPLE_MS / 1_000) },
    ],
  },
  rate('Failed attempts', 'failedAttempts'),
];

/** The samples, with a gap for each time of which there is none. */
function pointsOf(samples: readonly Sample[], of: (sample: Sample) => number | null): Point[] {
  return samples.flatMap((sample, index) => {
    const [at, before] = [Date.parse(sample.at), Date.parse(samples[index - 1]?.at ?? sample.at)];
    const gap = at - before > SAMPLE_MS ? [{ at: before + SAMPLE_MS, value: null }] : [];
    return [...gap, { at, value: of(sample) }];
  });
}

/** Where the entries of a feed are, by its model. */
const STORED_AS: Readonly<Record<string, string>> = {
  items: 'as one document for each entry',
  capped: 'as a ring of documents for each reader',
  'time-buckets': 'as one document for each reader and day',
  'size-buckets': 'in documents of up to 50 entries',
  'top-cache': 'as one document for each reader',
  redis: 'as one sorted set in Redis for each reader',
  pull: 'nowhere: feeds are read from the actions',
};

/** The state of the installation at one look. Each figure leads to what is behind it. */
export function OverviewScreen(): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Work>(WORK);
  const past = useQuery<{ readonly samples: readonly Sample[] }>(SAMPLES);
  const [ready, setReady] = useState('…');
  const lookReady = (): void => {
    fetchReadiness().then(setReady, () => setReady('not reachable'));
  };
  useEffect(() => {
    lookReady();
  }, []);
  useEvery(EVERY_MS, () => {
    lookReady();
    reload();
  });
  useEvery(SAMPLE_MS, past.reload);
  const work = data?.work;
  const samples = past.data?.samples ?? [];
  const to = Date.parse(samples.at(-1)?.at ?? '') || 0;
  // Of a server that is new the hour would be nothing but empty.
  const from = Math.min(to - LEAST_MS, Math.max(to - 3_600_000, Date.parse(samples[0]?.at ?? '') || 0));
  return (
    <>
      <p className="filters">
        <span className="state" data-is={ready.startsWith('ready') ? 'good' : ready === '…' ? 'busy' : 'bad'}>
          This server: {ready}
        </span>
        {work !== undefined && <FeedModel {...work} />}
      </p>
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        {work !== undefined && (
          <ul className="figures">
            {figuresOf(work).map(({ name, value, note, href, isBad = false }) => (
              <li key={name}>
                <a
                  {...{ href, title: note }}
                  data-bad={isBad || undefined}
                  data-nought={value === 0 || undefined}
                >
                  <span>{name}</span>
                  <strong>{shownNumber(value)}</strong>
                </a>
              </li>
            ))}
          </ul>
        )}
      </States>
      {/* Of what nothing is known there are no axes either. What fails for the same reason is said once. */}
      {(past.data !== undefined || error === null) && (
        <States
          isLoading={false}
          error={error === null ? past.error : null}
          isEmpty={past.error !== null && past.data === undefined}
          empty=""
          onRetry={past.reload}
        >
          <div className="plots">
            {CHARTS.map(({ title, unit, lines }) => (
              <Suspense key={title} fallback={<figure className="card plot" />}>
                <Plot
                  {...{ title, unit, to }}
                  from={from}
                  series={lines.map(({ name, of }) => ({ name, points: pointsOf(samples, of) }))}
                />
              </Suspense>
            ))}
          </div>
          <p className="hint">
            {`The past hour of all processes, by ${String(SAMPLE_MS / 1_000)} s. Lags are those of the last minute before each point.`}
          </p>
        </States>
      )}
      <AsCode query={WORK} pages={['/ready', '/metrics']} command="doctor" />
    </>
  );
}

function FeedModel({ feedModel: model, feedCap }: Work['work']): ReactNode {
  return (
    <span className="quiet">
      Feed model: <strong translate="no">{model}</strong>, stored{' '}
      {STORED_AS[model] ?? 'in documents of its own'}
      {model !== 'pull' && `, the newest ${shownNumber(feedCap)} of each feed`}
    </span>
  );
}

interface Figure {
  readonly name: string;
  readonly value: number;
  /** What the figure is of, and when. */
  readonly note: string;
  readonly href: string;
  readonly isBad?: boolean;
}

function figuresOf(work: Work['work']): Figure[] {
  const [deliveries, overview] = [hrefTo('deliveries'), hrefTo('overview')];
  return [
    ...work.lanes.map(({ lane, pending, oldestSeconds }) => ({
      ...{ name: `Waiting, ${lane.toLowerCase()}`, value: pending },
      note: pending > 0 ? `the oldest for ${oldestSeconds.toFixed(1)} s` : 'now, in this lane',
      href: hrefTo('tail', '', { state: 'PENDING' }),
    })),
    {
      ...{ name: 'Failed fan-outs', value: work.failedFanOuts, note: 'to be tried again by you' },
      ...{ href: deliveries, isBad: work.failedFanOuts > 0 },
    },
    { name: 'Watchers', value: work.watchers, note: 'readers who are connected now', href: overview },
    {
      ...{ name: 'Workers', value: work.workers, note: 'processes that deliver now' },
      ...{ href: deliveries, isBad: work.workers === 0 },
    },
    { name: 'Rebuilds due', value: work.rebuildsDue, note: 'feeds to be made again', href: deliveries },
    { name: 'Renames due', value: work.renamesDue, note: 'names not yet in all copies', href: deliveries },
  ];
}
