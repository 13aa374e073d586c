import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: `npm run scale` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 5280, database: 3060, wait: 50500 },
  pulled: {
    first: { process: 4550, database: 4880, wait: 26000 },
    each: { process: 85.6, database: 0, wait: 22.2 },
  },
  publish: { process: 5560, database: 4380, wait: 61500 },
  pass: { process: 5510, database: 8770, wait: 409000 },
  chunkWait: 18400,
  event: { process: 159, redis: 22 },
  models: {
    items: { delivery: { process: 14.3, database: 45, redis: 0.317 }, bytes: { database: 541, redis: 0 } },
    capped: { delivery: { process: 77.7, database: 114, redis: 0 }, bytes: { database: 615, redis: 0 } },
    'time-buckets': {
      delivery: { process: 58.7, database: 427, redis: 1.33 },
      bytes: { database: 441, redis: 0 },
    },
    'size-buckets': {
      delivery: { process: 72.7, database: 442, redis: 3.17 },
      bytes: { database: 484, redis: 0 },
    },
    'top-cache': { delivery: { process: 55.9, database: 228, redis: 0 }, bytes: { database: 390, redis: 0 } },
    redis: { delivery: { process: 19.3, database: 12.1, redis: 16.3 }, bytes: { database: 0, redis: 181 } },
    pull: { delivery: { process: 28.9, database: 11.5, redis: 0 }, bytes: { database: 0, redis: 0 } },
  },
  bytes: { action: 6600, follow: 578 },
  measured: {
    at: '2026-11-23T10:47:04.108Z',
    commit: '23a080ba12ed',
    cpu: 'AMD EPYC',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 14.6,
  },
};
