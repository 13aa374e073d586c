import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: `npm run scale` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 953, database: 801, wait: 0 },
  pulled: { first: { process: 478, database: 507, wait: 0 }, each: { process: 185, database: 71, wait: 0 } },
  publish: {
    process: 4700,
    database: 2260,
    wait: 0,
    onPath: 0.613,
    amongMany: { process: 1320, database: 277 },
  },
  pass: { process: 4760, database: 4520, wait: 0, onPath: 0.833, amongMany: { process: 145, database: 395 } },
  wake: { process: 467, database: 91 },
  chunkWait: 0,
  event: { process: 17.8, redis: 7.69 },
  models: {
    items: {
      delivery: { process: 13.5, database: 19.5, redis: 0.0951 },
      bytes: { database: 489, redis: 0.0278 },
    },
    capped: {
      delivery: { process: 53.9, database: 85.8, redis: 0.192 },
      bytes: { database: 704, redis: 0.0777 },
    },
    'time-buckets': {
      delivery: { process: 32.9, database: 119, redis: 0.0551 },
      bytes: { database: 773, redis: 0.0758 },
    },
    'size-buckets': {
      delivery: { process: 34.5, database: 99.7, redis: 0.1 },
      bytes: { database: 715, redis: 0.0875 },
    },
    'top-cache': {
      delivery: { process: 13.9, database: 177, redis: 0.0744 },
      bytes: { database: 535, redis: 0.0304 },
    },
    redis: { delivery: { process: 9.94, database: 4.89, redis: 10.1 }, bytes: { database: 0, redis: 166 } },
    pull: {
      delivery: { process: 7.13, database: 4.26, redis: 0.0614 },
      bytes: { database: 0, redis: 0.0723 },
    },
  },
  bytes: { action: 4690, follow: 572 },
  measured: {
    at: '2026-11-28T12:39:29.888Z',
    commit: '1b82c0bc98fe',
    cpu: 'AMD EPYC',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 0.007165409466094727,
  },
};
