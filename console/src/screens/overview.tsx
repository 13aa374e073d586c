import '../later.css';
import { useQuery } from '@fanfare/react';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { counted, shownNumber } from '../ui/count.ts';
import { fetchReadiness } from '../ui/health.ts';
import { lagsOf, ratesOf, valuesOf, type Point, type Sample } from '../ui/metrics.ts';
import { SAMPLE_EVERY_MS, useSamples } from '../ui/samples.ts';
import { States } from '../ui/states.tsx';
import { useEvery } from '../ui/use-every.ts';
import { WORK, type Work } from '../ui/work.ts';

const EVERY_MS = 2_000;
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
  readonly lines: (
    samples: readonly Sample[],
  ) => readonly { readonly name: string; readonly points: readonly Point[] }[];
}

const rate = (title: string, name: string, unit = '/ s'): Chart => ({
  ...{ title, unit },
  lines: (samples) => [{ name, points: ratesOf(samples, name) }],
});
const level = (title: string, name: string): Chart => ({
  ...{ title, unit: '' },
  lines: (samples) => [{ name, points: valuesOf(samples, name) }],
});

const CHARTS: readonly Chart[] = [
  {
    ...{ title: 'Published → delivered', unit: 'ms' },
    lines: (samples) => [
      { name: 'p50', points: lagsOf(samples, 0.5) },
      { name: 'p99', points: lagsOf(samples, 0.99) },
    ],
  },
  rate('Deliveries', 'fanfare_fan_out_deliveries_total'),
  level('Waiting for delivery', 'fanfare_fan_out_pending'),
  rate('Published', 'fanfare_actions_published_total'),
  level('Watchers', 'fanfare_live_subscribers'),
  rate('Live events', 'fanfare_live_events_sent_total'),
  rate('Resyncs', 'fanfare_live_resyncs_total'),
  rate('Requests', 'fanfare_graphql_requests_total'),
  rate('Failed attempts', 'fanfare_fan_out_failed_attempts_total'),
];

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
  const { samples, feedModel, failure, look } = useSamples();
  const [ready, setReady] = useState('…');
  const lookReady = (): void => {
    fetchReadiness().then(setReady, () => setReady('not reachable'));
  };
  useEffect(() => {
    look();
    lookReady();
  }, [look]);
  useEvery(EVERY_MS, () => {
    lookReady();
    reload();
  });
  const work = data?.work;
  const [first, last] = [samples[0], samples.at(-1)];
  return (
    <>
      <p className="filters">
        <span className="state" data-is={ready.startsWith('ready') ? 'good' : ready === '…' ? 'busy' : 'bad'}>
          This server: {ready}
        </span>
        <FeedModel of={feedModel} />
      </p>
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        {work !== undefined && (
          <ul className="figures">
            {figuresOf(work).map(({ name, value, note, href, isBad = false }) => (
              <li key={name}>
                <a href={href} data-bad={isBad || undefined}>
                  <span>{name}</span>
                  <strong>{shownNumber(value)}</strong>
                  <small>{note}</small>
                </a>
              </li>
            ))}
          </ul>
        )}
      </States>
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <div className="plots">
        {CHARTS.map(({ title, unit, lines }) => (
          <Suspense key={title} fallback={<figure className="card plot" />}>
            <Plot {...{ title, unit }} from={first?.at ?? 0} to={last?.at ?? 0} series={lines(samples)} />
          </Suspense>
        ))}
      </div>
      <p className="hint">
        {counted(samples.length, 'sample')} of the process that answers this page. One is taken every{' '}
        {SAMPLE_EVERY_MS / 1_000} s while the console is in view, and kept for an hour. Lags are those of the
        last minute before each.
      </p>
      <AsCode query={WORK} pages={['/ready', '/metrics']} command="doctor" />
    </>
  );
}

function FeedModel({ of }: { readonly of: ReadonlyMap<string, string> }): ReactNode {
  const model = of.get('model');
  if (model === undefined) return null;
  return (
    <span className="quiet">
      Feed model: <strong>{model}</strong>, stored {STORED_AS[model] ?? 'in documents of its own'}
      {model !== 'pull' && `, the newest ${shownNumber(Number(of.get('cap')))} of each feed`}
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
