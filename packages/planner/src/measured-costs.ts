import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: `npm run scale` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 2300, database: 2400, wait: 490 },
  pulled: { first: { process: 338, database: 664, wait: 0 }, each: { process: 372, database: 156, wait: 0 } },
  publish: {
    process: 6240,
    database: 4050,
    wait: 0,
    onPath: 0.688,
    amongMany: { process: 3270, database: 3710 },
  },
  pass: {
    process: 8430,
    database: 8090,
    wait: 0,
    onPath: 0.782,
    amongMany: { process: 3090, database: 7390 },
  },
  wake: { process: 1710, database: 190 },
  chunkWait: 0,
  event: { process: 52.3, redis: 18.5 },
  models: {
    items: {
      delivery: { process: 24.2, database: 45.2, redis: 0.166 },
      bytes: { database: 484, redis: 0.00566 },
    },
    capped: {
      delivery: { process: 75.6, database: 163, redis: 0.173 },
      bytes: { database: 706, redis: 0.0086 },
    },
    'time-buckets': {
      delivery: { process: 67.5, database: 317, redis: 0.349 },
      bytes: { database: 655, redis: 0.00491 },
    },
    'size-buckets': {
      delivery: { process: 59.5, database: 255, redis: 0.307 },
      bytes: { database: 575, redis: 0.00614 },
    },
    'top-cache': {
      delivery: { process: 32.9, database: 259, redis: 0.186 },
      bytes: { database: 525, redis: 0.00614 },
    },
    redis: { delivery: { process: 23.2, database: 11.1, redis: 15.8 }, bytes: { database: 0, redis: 166 } },
    pull: { delivery: { process: 31.2, database: 14.3, redis: 0.47 }, bytes: { database: 0, redis: 0.0623 } },
  },
  bytes: { action: 4000, follow: 567 },
  measured: {
    at: '2026-11-25T18:56:58.707Z',
    commit: 'faad938bd0b8',
    cpu: 'AMD EPYC',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 0.15703610588761077,
  },
};
