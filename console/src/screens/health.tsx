import { useEffect, useState, type ReactNode } from 'react';
import { AsCode } from '../ui/as-code.tsx';
import { counted } from '../ui/count.ts';
import { fetchReadiness } from '../ui/health.ts';
import { ratesOf, valuesOf, type Point } from '../ui/metrics.ts';
import { SAMPLE_EVERY_MS, useSamples } from '../ui/samples.ts';
import { Time } from '../ui/time.tsx';
import { useEvery } from '../ui/use-every.ts';

const PLOTS = [
  { name: 'fanfare_fan_out_pending', title: 'Fan-outs pending', isRate: false },
  { name: 'fanfare_fan_out_deliveries_total', title: 'Deliveries per second', isRate: true },
  { name: 'fanfare_actions_published_total', title: 'Actions published per second', isRate: true },
  { name: 'fanfare_live_subscribers', title: 'Watchers', isRate: false },
  { name: 'fanfare_live_events_sent_total', title: 'Live events per second', isRate: true },
  { name: 'fanfare_live_resyncs_total', title: 'Resyncs per second', isRate: true },
  { name: 'fanfare_graphql_requests_total', title: 'Requests per second', isRate: true },
  { name: 'fanfare_fan_out_failed_attempts_total', title: 'Failed attempts per second', isRate: true },
] as const;

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

function FeedModel({ of }: { readonly of: ReadonlyMap<string, string> }): ReactNode {
  const model = of.get('model');
  if (model === undefined) return null;
  return (
    <p>
      Feed model: <strong>{model}</strong>, stored {STORED_AS[model] ?? 'in documents of its own'}
      {model !== 'pull' && `, the newest ${Number(of.get('cap')).toLocaleString('en')} of each feed`}
    </p>
  );
}

export function HealthScreen(): ReactNode {
  const { samples, feedModel, failure, look } = useSamples();
  const [ready, setReady] = useState('…');
  const lookReady = (): void => {
    fetchReadiness().then(setReady, () => {
      setReady('not reachable');
    });
  };
  useEffect(() => {
    look();
    lookReady();
  }, [look]);
  useEvery(SAMPLE_EVERY_MS, lookReady);
  const [first, last] = [samples[0], samples.at(-1)];
  return (
    <>
      <h1>Health</h1>
      <p>
        This server: <strong>{ready}</strong>
      </p>
      <FeedModel of={feedModel} />
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <p className="quiet">
        {counted(samples.length, 'sample')} of the process that answers this page
        {first !== undefined && last !== undefined && (
          <>
            , from <Time at={new Date(first.at).toISOString()} /> to{' '}
            <Time at={new Date(last.at).toISOString()} />
          </>
        )}
        . One is taken every {SAMPLE_EVERY_MS / 1_000} s while the console is in view, and kept for an hour.
      </p>
      <div className="plots">
        {PLOTS.map(({ name, title, isRate }) => (
          <Plot
            key={name}
            title={title}
            from={first?.at ?? 0}
            to={last?.at ?? 0}
            points={isRate ? ratesOf(samples, name) : valuesOf(samples, name)}
          />
        ))}
      </div>
      <AsCode pages={['/ready', '/metrics']} command="doctor" />
    </>
  );
}

const WIDTH = 240;
const HEIGHT = 60;

interface PlotProps {
  readonly title: string;
  /** All plots go from the same moment to the same. */
  readonly from: number;
  readonly to: number;
  readonly points: readonly Point[];
}

function Plot({ title, from, to, points }: PlotProps): ReactNode {
  const highest = Math.max(0, ...points.map(({ value }) => value));
  const line = points
    .map(({ at, value }) => {
      const x = ((at - from) / Math.max(1, to - from)) * WIDTH;
      return `${x.toFixed(1)},${(HEIGHT - (value / (highest || 1)) * (HEIGHT - 4) - 2).toFixed(1)}`;
    })
    .join(' ');
  const last = points.at(-1)?.value;
  return (
    <figure className="plot">
      <figcaption>
        <span>{title}</span>
        <span>
          <strong>{last === undefined ? '–' : round(last)}</strong>
          {last !== undefined && <span className="quiet">, highest {round(highest)}</span>}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        role="img"
        aria-label={`${title}: ${last === undefined ? 'not known yet' : `now ${round(last)}, highest ${round(highest)}`}`}
        preserveAspectRatio="none"
      >
        <polyline points={line} />
      </svg>
    </figure>
  );
}

function round(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : 2 });
}
