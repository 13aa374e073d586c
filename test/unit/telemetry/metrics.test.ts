import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/telemetry/metrics.ts';

async function lines(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const page = await metrics.metrics();
  return page.split('\n').filter((line) => line.startsWith(name));
}

describe('createMetrics', () => {
  it('counts reported events', async () => {
    const metrics = createMetrics({ withProcess: false });
    metrics.requestFinished({ operation: 'Feed', code: 'OK', seconds: 0.003 });
    metrics.requestFinished({ operation: null, code: 'BAD_CURSOR', seconds: 0.003 });
    metrics.actionsPublished(3);
    metrics.fanOutFinished({ state: 'DONE', delivered: 7, seconds: 0.2 });
    metrics.fanOutFinished({ state: 'PENDING', delivered: 2, seconds: 0.2 });
    expect(await lines(metrics, 'fanfare_graphql_requests_total')).toEqual([
      'fanfare_graphql_requests_total{operation="Feed",code="OK"} 1',
      'fanfare_graphql_requests_total{operation="anonymous",code="BAD_CURSOR"} 1',
    ]);
    expect(await lines(metrics, 'fanfare_actions_published_total')).toEqual([
      'fanfare_actions_published_total 3',
    ]);
    expect(await lines(metrics, 'fanfare_fan_out_deliveries_total')).toEqual([
      'fanfare_fan_out_deliveries_total 9',
    ]);
    expect(await lines(metrics, 'fanfare_fan_out_seconds_count')).toHaveLength(2);
  });

  it('has a bounded size whatever names clients invent', async () => {
    const metrics = createMetrics({ withProcess: false });
    for (let n = 0; n < 1_000; n++) metrics.requestFinished({ operation: `Op${n}`, code: 'OK', seconds: 0 });
    metrics.requestFinished({ operation: 'x'.repeat(100), code: 'OK', seconds: 0 });
    const counters = await lines(metrics, 'fanfare_graphql_requests_total{');
    expect(counters).toHaveLength(201);
    expect(counters).toContain('fanfare_graphql_requests_total{operation="other",code="OK"} 801');
  });

  it('counts a subscriber until it is disposed, once', async () => {
    const metrics = createMetrics({ withProcess: false });
    const first = metrics.subscriberOpened('sse');
    metrics.subscriberOpened('sse');
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(await lines(metrics, 'fanfare_live_subscribers{')).toEqual([
      'fanfare_live_subscribers{transport="sse"} 1',
    ]);
  });

  it('reports how feeds are stored', async () => {
    const metrics = createMetrics({ withProcess: false });
    metrics.feedModelChosen({ model: 'capped', cap: 500 });
    expect(await lines(metrics, 'fanfare_feed_model_info{')).toEqual([
      'fanfare_feed_model_info{model="capped",cap="500"} 1',
    ]);
  });

  it('reads the queue at every scrape, and reports if that fails', async () => {
    const metrics = createMetrics({ withProcess: false });
    let pending = { LIVE: 3, BULK: 1 };
    const watch = metrics.watchPending(() => Promise.resolve(pending));
    expect(await lines(metrics, 'fanfare_fan_out_pending')).toEqual(['fanfare_fan_out_pending 4']);
    expect(await lines(metrics, 'fanfare_fan_out_lane_pending{')).toEqual([
      'fanfare_fan_out_lane_pending{lane="LIVE"} 3',
      'fanfare_fan_out_lane_pending{lane="BULK"} 1',
    ]);
    pending = { LIVE: 0, BULK: 5 };
    expect(await lines(metrics, 'fanfare_fan_out_pending')).toEqual(['fanfare_fan_out_pending 5']);
    watch[Symbol.dispose]();
    metrics.watchPending(() => Promise.reject(new Error('down')));
    expect(await lines(metrics, 'fanfare_fan_out_pending')).toEqual(['fanfare_fan_out_pending Nan']);
    expect(await lines(metrics, 'fanfare_fan_out_lane_pending{')).toEqual([]);
  });

  it('omits erasures while they are unknown, and adds up the lookups of several caches of a kind', async () => {
    const metrics = createMetrics({ withProcess: false });
    const known = metrics.watchErasures(() => Promise.resolve({ RUNNING: 2 }));
    expect(await lines(metrics, 'fanfare_erasures_open{')).toEqual([
      'fanfare_erasures_open{state="RUNNING"} 2',
    ]);
    known[Symbol.dispose]();
    metrics.watchErasures(() => Promise.reject(new Error('down')));
    expect(await lines(metrics, 'fanfare_erasures_open{')).toEqual([]);
    for (const hits of [3, 4]) metrics.watchReadCache('names', () => ({ hits, misses: 1 }));
    const lookups = [
      'fanfare_read_cache_lookups_total{cache="names",outcome="hit"} 7',
      'fanfare_read_cache_lookups_total{cache="names",outcome="miss"} 2',
    ];
    expect(await lines(metrics, 'fanfare_read_cache_lookups_total{')).toEqual(lookups);
    expect(await lines(metrics, 'fanfare_read_cache_lookups_total{')).toEqual(lookups);
  });

  it('uses its own registry and reports the process', async () => {
    const one = createMetrics();
    const other = createMetrics();
    one.actionsPublished(1);
    expect(await lines(other, 'fanfare_actions_published_total')).toEqual([
      'fanfare_actions_published_total 0',
    ]);
    expect(await one.metrics()).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(one.contentType).toContain('text/plain');
  });
});
