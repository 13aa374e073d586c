import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: `npm run scale` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 3720, database: 2280, wait: 0 },
  pulled: {
    first: { process: 3970, database: 4310, wait: 1200 },
    each: { process: 166, database: 29.7, wait: 0 },
  },
  publish: { process: 6090, database: 6010, wait: 0, onPath: 0.559 },
  pass: { process: 10700, database: 12000, wait: 0, onPath: 0.715 },
  chunkWait: 0,
  event: { process: 141, redis: 16 },
  models: {
    items: { delivery: { process: 17.1, database: 27.4, redis: 0.325 }, bytes: { database: 793, redis: 0 } },
    capped: { delivery: { process: 51.6, database: 82.2, redis: 1.1 }, bytes: { database: 935, redis: 0 } },
    'time-buckets': {
      delivery: { process: 82.3, database: 303, redis: 1.5 },
      bytes: { database: 895, redis: 0 },
    },
    'size-buckets': {
      delivery: { process: 91.5, database: 413, redis: 1.5 },
      bytes: { database: 917, redis: 0 },
    },
    'top-cache': { delivery: { process: 64.3, database: 286, redis: 0 }, bytes: { database: 729, redis: 0 } },
    redis: { delivery: { process: 27, database: 10.2, redis: 24.6 }, bytes: { database: 0, redis: 242 } },
    pull: { delivery: { process: 20.1, database: 8.46, redis: 0 }, bytes: { database: 0, redis: 0 } },
  },
  bytes: { action: 5460, follow: 586 },
  measured: {
    at: '2026-11-24T00:12:15.846Z',
    commit: 'bb7b40bcc09f',
    cpu: 'AMD EPYC',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 3.08,
  },
};
