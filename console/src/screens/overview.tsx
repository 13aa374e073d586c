import { useQuery } from '@fanfare/react';
import { useEffect, useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { fetchMetrics, fetchReadiness } from '../ui/health.ts';
import { States } from '../ui/states.tsx';
import { useEvery } from '../ui/use-every.ts';
import { WORK, type Work } from '../ui/work.ts';

const EVERY_MS = 2_000;

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly href: string;
  readonly isBad?: boolean;
}

/** The state of the installation at one look. Each figure leads to what is behind it. */
export function OverviewScreen(): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Work>(WORK);
  const [ready, setReady] = useState('…');
  const [sums, setSums] = useState<ReadonlyMap<string, number>>(new Map());
  const look = (): void => {
    fetchReadiness().then(setReady, () => setReady('not reachable'));
    // Where they have a port of their own, the figures of this process are left out.
    fetchMetrics().then(
      (read) => setSums(read.sums),
      () => setSums(new Map()),
    );
  };
  useEffect(look, []);
  useEvery(EVERY_MS, () => {
    look();
    reload();
  });
  const work = data?.work;
  return (
    <>
      <h1>Overview</h1>
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        <ul className="figures">
          {[
            ...readyFigures(ready),
            ...(work === undefined ? [] : workFigures(work)),
            ...processFigures(sums),
          ].map(({ name, value, href, isBad = false }) => (
            <li key={name}>
              <a href={href} data-bad={isBad || undefined}>
                <span>{name}</span>
                <strong>{value}</strong>
              </a>
            </li>
          ))}
        </ul>
      </States>
      <AsCode query={WORK} command="doctor" />
    </>
  );
}

function readyFigures(ready: string): Figure[] {
  const [status = ''] = ready.split(',');
  return [
    { name: 'server', value: status, href: hrefTo('health'), isBad: status !== 'ready' && status !== '…' },
  ];
}

function workFigures(work: Work['work']): Figure[] {
  const count = (name: string, of: number, href: string, isBad = false): Figure => ({
    ...{ name, value: of.toLocaleString('en'), href, isBad },
  });
  return [
    ...work.lanes.map(({ lane, pending, oldestSeconds }) =>
      count(
        `waiting, ${lane.toLowerCase()}${pending > 0 ? `, for ${oldestSeconds.toFixed(1)} s` : ''}`,
        pending,
        hrefTo('tail', '', { state: 'PENDING' }),
      ),
    ),
    count('failed fan-outs', work.failedFanOuts, hrefTo('work'), work.failedFanOuts > 0),
    count('watchers', work.watchers, hrefTo('health')),
    count('workers', work.workers, hrefTo('work'), work.workers === 0),
    count('rebuilds due', work.rebuildsDue, hrefTo('work')),
    count('renames due', work.renamesDue, hrefTo('work')),
  ];
}

/** Of this process, since it was started; none where /metrics cannot be read from here. */
function processFigures(sums: ReadonlyMap<string, number>): Figure[] {
  if (sums.size === 0) return [];
  const seconds = sums.get('fanfare_delivery_lag_seconds_sum') ?? 0;
  const count = sums.get('fanfare_delivery_lag_seconds_count') ?? 0;
  const resyncs = sums.get('fanfare_live_resyncs_total') ?? 0;
  const average = count === 0 ? '–' : `${((seconds / count) * 1_000).toFixed(0)} ms`;
  const href = hrefTo('health');
  return [
    { name: 'published → delivered', value: average, href },
    { name: 'resyncs', value: resyncs.toLocaleString('en'), href },
  ];
}
