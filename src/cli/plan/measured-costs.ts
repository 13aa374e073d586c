import type { UnitCosts } from './unit-costs.ts';

/** Measurements of the benchmark; `npm run scale` copies them from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 2660, database: 1420, wait: 0 },
  pulled: { first: { process: 499, database: 731, wait: 0 }, each: { process: 261, database: 109, wait: 0 } },
  publish: {
    process: 5960,
    database: 3430,
    wait: 0,
    onPath: 0.627,
    amongMany: { process: 3380, database: 2640 },
  },
  pass: {
    process: 6370,
    database: 6850,
    wait: 0,
    onPath: 0.689,
    amongMany: { process: 4290, database: 5220 },
  },
  chunkWait: 0,
  event: { process: 65, redis: 13 },
  models: {
    items: { delivery: { process: 25.6, database: 32.7, redis: 0.136 }, bytes: { database: 608, redis: 0 } },
    capped: { delivery: { process: 64, database: 104, redis: 1.04 }, bytes: { database: 675, redis: 0 } },
    'time-buckets': {
      delivery: { process: 62.6, database: 176, redis: 1.5 },
      bytes: { database: 631, redis: 0 },
    },
    'size-buckets': {
      delivery: { process: 39, database: 154, redis: 0 },
      bytes: { database: 721, redis: 0 },
    },
    'top-cache': {
      delivery: { process: 27.5, database: 141, redis: 1.67 },
      bytes: { database: 589, redis: 0 },
    },
    redis: { delivery: { process: 15.3, database: 7.65, redis: 14.7 }, bytes: { database: 0, redis: 174 } },
    pull: { delivery: { process: 14.3, database: 3.76, redis: 0 }, bytes: { database: 0, redis: 0 } },
  },
  bytes: { action: 4530, follow: 582 },
  measured: {
    at: '2026-11-24T17:28:19.357Z',
    commit: '986fcc4aa764',
    cpu: 'Intel(R) Xeon(R) Processor',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 0.02047754510918577,
  },
};
