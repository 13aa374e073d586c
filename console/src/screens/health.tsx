import { useEffect, useState, type ReactNode } from 'react';
import { AsCode } from '../ui/as-code.tsx';
import { fetchMetrics, fetchReadiness } from '../ui/health.ts';
import { ratesOf, valuesOf, type Sample } from '../ui/metrics.ts';
import { useEvery } from '../ui/use-every.ts';

const EVERY_MS = 5_000;
const KEPT_MS = 3_600_000;

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

/** Kept as long as the page: /metrics has no past. */
let samples: readonly Sample[] = [];

async function sample(): Promise<{ samples: readonly Sample[]; feedModel: ReadonlyMap<string, string> }> {
  const { sums, feedModel } = await fetchMetrics();
  const at = Date.now();
  samples = [...samples.filter((one) => one.at > at - KEPT_MS), { at, sums }];
  return { samples, feedModel };
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
  const [shown, setShown] = useState(samples);
  const [model, setModel] = useState<ReadonlyMap<string, string>>(new Map());
  const [ready, setReady] = useState('…');
  const [failure, setFailure] = useState<string | null>(null);
  const look = (): void => {
    const fail = (error: unknown): void => {
      setFailure(error instanceof Error ? error.message : String(error));
    };
    sample().then((read) => {
      setShown(read.samples);
      setModel(read.feedModel);
      setFailure(null);
    }, fail);
    fetchReadiness().then(setReady, () => {
      setReady('not reachable');
    });
  };
  useEffect(look, []);
  useEvery(EVERY_MS, look);
  return (
    <>
      <h1>Health</h1>
      <p>
        Ready: <strong>{ready}</strong>
      </p>
      <FeedModel of={model} />
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <p className="quiet">
        This process, since this page is open: {shown.length} samples, one every {EVERY_MS / 1_000} s, for an
        hour at most.
      </p>
      <div className="plots">
        {PLOTS.map(({ name, title, isRate }) => (
          <Plot key={name} title={title} values={isRate ? ratesOf(shown, name) : valuesOf(shown, name)} />
        ))}
      </div>
      <AsCode pages={['/ready', '/metrics']} command="npx fanfare doctor" />
    </>
  );
}

const WIDTH = 240;
const HEIGHT = 60;

function Plot({ title, values }: { readonly title: string; readonly values: readonly number[] }): ReactNode {
  const highest = Math.max(1e-9, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values
    .map(
      (value, at) =>
        `${(at * step).toFixed(1)},${(HEIGHT - (value / highest) * (HEIGHT - 4) - 2).toFixed(1)}`,
    )
    .join(' ');
  const last = values.at(-1);
  return (
    <figure className="plot">
      <figcaption>
        {title} <strong>{last === undefined ? '–' : round(last)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        role="img"
        aria-label={`${title}: ${last === undefined ? 'not known yet' : `now ${round(last)}, highest ${round(highest)}`}`}
        preserveAspectRatio="none"
      >
        <polyline points={points} />
      </svg>
    </figure>
  );
}

function round(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
}
