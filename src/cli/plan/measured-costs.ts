import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: `npm run scale` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = {
  page: { process: 2420, database: 1440, wait: 0 },
  pulled: { first: { process: 752, database: 771, wait: 0 }, each: { process: 248, database: 109, wait: 0 } },
  publish: {
    process: 5120,
    database: 3510,
    wait: 0,
    onPath: 0.639,
    amongMany: { process: 3480, database: 2850 },
  },
  pass: {
    process: 7070,
    database: 7030,
    wait: 0,
    onPath: 0.673,
    amongMany: { process: 4900, database: 5660 },
  },
  chunkWait: 0,
  event: { process: 57, redis: 12 },
  models: {
    items: { delivery: { process: 22.7, database: 31.2, redis: 0.141 }, bytes: { database: 610, redis: 0 } },
    capped: { delivery: { process: 63.7, database: 112, redis: 1.5 }, bytes: { database: 672, redis: 0 } },
    'time-buckets': {
      delivery: { process: 68.7, database: 185, redis: 0 },
      bytes: { database: 688, redis: 0 },
    },
    'size-buckets': {
      delivery: { process: 48.9, database: 193, redis: 0 },
      bytes: { database: 659, redis: 0 },
    },
    'top-cache': { delivery: { process: 21.5, database: 143, redis: 0 }, bytes: { database: 624, redis: 0 } },
    redis: { delivery: { process: 21.3, database: 9.1, redis: 14.7 }, bytes: { database: 0, redis: 174 } },
    pull: { delivery: { process: 10.6, database: 6.35, redis: 0 }, bytes: { database: 0, redis: 0 } },
  },
  bytes: { action: 4530, follow: 584 },
  measured: {
    at: '2026-11-24T21:38:53.470Z',
    commit: '6129a5fa7f58',
    cpu: 'Intel(R) Xeon(R) Processor',
    cores: 2,
    engine: 'documentdb 7.0.0',
    load: 0.02357475194868521,
  },
};
