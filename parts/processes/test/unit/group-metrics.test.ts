import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { METRICS } from '../../../../src/app/brought.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { createGroupMetrics } from '../../src/metrics.ts';

it('adds up the counts of processes, and takes figures that all read from the database once', async () => {
  const processes = [1, 2].map((skew) => {
    const metrics = createMetrics();
    metrics.actionsPublished(3);
    metrics.subscriberOpened('sse');
    metrics.requestFinished({ operation: 'Feed', code: 'OK', seconds: 0.003 });
    metrics.watchPending(() => Promise.resolve({ LIVE: 5 }));
    metrics.watchSkew(() => skew);
    return metrics;
  });
  const group = createGroupMetrics();
  for (const _process of processes) group.processStarted();
  const page = await group.page(await Promise.all(processes.map((metrics) => metrics.snapshot())));
  const lines = page.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'fanfare_actions_published_total 6',
      'fanfare_live_subscribers{transport="sse"} 2',
      'fanfare_graphql_request_seconds_bucket{le="0.005",operation="Feed"} 2',
      'fanfare_fan_out_pending 5',
      'fanfare_fan_out_lane_pending{lane="LIVE"} 5',
      'fanfare_clock_skew_seconds 1.5',
      'fanfare_processes 2',
    ]),
  );
  expect(page).toMatch(/^process_resident_memory_bytes \d+$/m);
});

it('reports the queue as unknown if one process cannot read it', async () => {
  const known = createMetrics({ withProcess: false });
  known.watchPending(() => Promise.resolve({ LIVE: 0 }));
  const unknown = createMetrics({ withProcess: false });
  unknown.watchPending(() => Promise.reject(new Error('No database')));
  const page = await createGroupMetrics().page([await known.snapshot(), await unknown.snapshot()]);
  expect(page).toMatch(/^fanfare_fan_out_pending Nan$/im);
});

it('has exactly the metrics that docs/operations.md lists', async () => {
  const text = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('## Metrics\n');
  const rows = [...section.matchAll(/^\| `(fanfare_\w+)` +\|([^|]*)\|([^|]*)\|$/gm)];
  const listed = rows.map(([, name, , help = '']) => ({ name, help: help.trim() }));
  const page = await createGroupMetrics().page([
    await createMetrics({ withProcess: false, parts: METRICS }).snapshot(),
  ]);
  const served = [...page.matchAll(/^# HELP (\w+) (.*)$/gm)].map(([, name, help]) => ({ name, help }));
  const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }): number =>
    (a.name ?? '').localeCompare(b.name ?? '');
  expect(served.sort(byName)).toEqual(listed.sort(byName));
});
