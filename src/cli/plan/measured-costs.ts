import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: `npm run scale` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 2780, database: 1660, wait: 0 },
  pulled: {
    first: { process: 830, database: 283, wait: 0 },
    each: { process: 29.7, database: 17.4, wait: 0 },
  },
  publish: {
    process: 4480,
    database: 2540,
    wait: 0,
    onPath: 0.604,
    amongMany: { process: 3430, database: 2370 },
  },
  pass: {
    process: 5620,
    database: 5070,
    wait: 0,
    onPath: 0.726,
    amongMany: { process: 4060, database: 4720 },
  },
  chunkWait: 0,
  event: { process: 73, redis: 13 },
  models: {
    items: { delivery: { process: 21.2, database: 29.6, redis: 0.15 }, bytes: { database: 610, redis: 0 } },
    capped: { delivery: { process: 58.7, database: 92.8, redis: 0 }, bytes: { database: 673, redis: 0 } },
    'time-buckets': {
      delivery: { process: 41.1, database: 147, redis: 0 },
      bytes: { database: 697, redis: 0 },
    },
    'size-buckets': {
      delivery: { process: 45.1, database: 165, redis: 0 },
      bytes: { database: 618, redis: 0 },
    },
    'top-cache': { delivery: { process: 26.5, database: 140, redis: 0 }, bytes: { database: 621, redis: 0 } },
    redis: { delivery: { process: 14, database: 3.81, redis: 13.2 }, bytes: { database: 0, redis: 174 } },
    pull: { delivery: { process: 9.47, database: 3.6, redis: 0 }, bytes: { database: 0, redis: 0 } },
  },
  bytes: { action: 4840, follow: 582 },
  measured: {
    at: '2026-11-24T17:18:33.828Z',
    commit: '30a988767dce',
    cpu: 'Intel(R) Xeon(R) Processor',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 0.007241621467704071,
  },
};
