import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: `npm run scale` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 2680, database: 1420, wait: 0 },
  pulled: { first: { process: 704, database: 694, wait: 0 }, each: { process: 256, database: 106, wait: 0 } },
  publish: { process: 4480, database: 4640, wait: 0, onPath: 0.479 },
  pass: { process: 8620, database: 9290, wait: 0, onPath: 0.649 },
  chunkWait: 0,
  event: { process: 71, redis: 12 },
  models: {
    items: { delivery: { process: 17.8, database: 27.4, redis: 0.0154 }, bytes: { database: 793, redis: 0 } },
    capped: { delivery: { process: 55.8, database: 97.3, redis: 0 }, bytes: { database: 929, redis: 0 } },
    'time-buckets': {
      delivery: { process: 44.4, database: 156, redis: 0 },
      bytes: { database: 988, redis: 0 },
    },
    'size-buckets': {
      delivery: { process: 54.9, database: 140, redis: 0 },
      bytes: { database: 951, redis: 0 },
    },
    'top-cache': {
      delivery: { process: 21, database: 133, redis: 1.67 },
      bytes: { database: 822, redis: 0 },
    },
    redis: { delivery: { process: 13.5, database: 6.15, redis: 13.2 }, bytes: { database: 0, redis: 242 } },
    pull: { delivery: { process: 14.3, database: 7.56, redis: 0 }, bytes: { database: 0, redis: 0 } },
  },
  bytes: { action: 5670, follow: 584 },
  measured: {
    at: '2026-11-24T12:38:47.064Z',
    commit: '0570e67c9270',
    cpu: 'Intel(R) Xeon(R) Processor',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 0.03220997988366684,
  },
};
