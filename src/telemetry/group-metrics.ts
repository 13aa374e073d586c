import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { MetricsSnapshot } from './metrics.ts';

/** Metrics of a group of processes: their own, and those of all members merged into one page. */
export interface GroupMetrics {
  processStarted(): void;
  processEnded(): void;
  readonly contentType: string;
  /** Prometheus page. Counters are summed; values that all processes read from the same database are taken once. */
  page(snapshots: readonly MetricsSnapshot[]): Promise<string>;
}

export function createGroupMetrics(): GroupMetrics {
  const registry = new Registry();
  const registers = [registry];
  const running = new Gauge({
    name: 'fanfare_processes',
    help: 'Running processes of serve --processes or worker --processes.',
    registers,
  });
  const ended = new Counter({
    name: 'fanfare_process_ends_total',
    help: 'Processes that exited unexpectedly; each is restarted.',
    registers,
  });
  return {
    processStarted: () => {
      running.inc();
    },
    processEnded: () => {
      running.dec();
      ended.inc();
    },
    contentType: registry.contentType,
    async page(snapshots) {
      const all = [...snapshots, await registry.getMetricsAsJSON()];
      return AggregatorRegistry.aggregate(all.map((snapshot) => [...snapshot])).metrics();
    },
  };
}
