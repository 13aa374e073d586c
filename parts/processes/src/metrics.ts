import { AggregatorRegistry, Registry } from 'prom-client';
import { metersIn, type MetricsSnapshot } from '../../../src/telemetry/metrics.ts';

export type GroupMetrics = ReturnType<typeof createGroupMetrics>;

/** Metrics of a group of processes: their own, and those of all members merged into one page. */
export function createGroupMetrics() {
  const registry = new Registry();
  const { counter, gauge } = metersIn(registry);
  const running = gauge('fanfare_processes', 'Running processes of serve --processes or worker --processes.');
  const ended = counter(
    'fanfare_process_ends_total',
    'Processes that exited unexpectedly; each is restarted.',
  );
  return {
    processStarted: (): void => running.inc(),
    processEnded(): void {
      running.dec();
      ended.inc();
    },
    contentType: registry.contentType,
    /** Prometheus page. Counters are summed; values that all processes read from the same database are taken once. */
    async page(snapshots: readonly MetricsSnapshot[]): Promise<string> {
      const all = [...snapshots, await registry.getMetricsAsJSON()];
      return AggregatorRegistry.aggregate(all.map((snapshot) => [...snapshot])).metrics();
    },
  };
}
