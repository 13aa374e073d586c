import { expect, inject, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/connections/redis.ts';
import { storedId } from '../../../src/domain/stored-id.ts';
import type { Role } from '../../../src/domain/viewer.ts';
import { readSamples } from '../../../src/features/operations/read-samples.ts';
import { MAX_SAMPLES, SAMPLE_MS, Samples, startSampling } from '../../../src/features/operations/samples.ts';
import type { Core } from '../../../src/core/core.ts';
import { openSession } from '../../../src/feed/session/open-session.ts';
import { createMetrics, LAG_BUCKETS, type Totals } from '../../../src/telemetry/metrics.ts';
import { uniqueName } from '../../support/unique-name.ts';

/** The begin of a sample. */
const START = Date.UTC(2026, 0, 1);

/** Samples on a clock that a test moves. */
async function open() {
  const redis = await connectRedis({ url: inject('redisUrl') });
  onTestFinished(() => redis.close());
  const at = { ms: START };
  return { at, samples: new Samples({ ...redis, prefix: `test:${uniqueName('samples')}:` }) };
}

const NOTHING: Totals = {
  ...{ published: 0, deliveries: 0, failedAttempts: 0, requests: 0, errors: 0 },
  ...{ liveEvents: 0, resyncs: 0, watchers: 0, lags: new Map() },
};

const fail = () => Promise.reject(new Error('The other one counts'));
const waiting = (count: number) => () => Promise.resolve(count);

test('what several processes did is added up, and only one of them counts what waits', async () => {
  const { at, samples } = await open();
  await samples.add({ ...NOTHING, published: 2, watchers: 3, requests: 5, errors: 1 }, waiting(7), at.ms);
  await samples.add({ ...NOTHING, published: 1, deliveries: 40, watchers: 4 }, fail, at.ms);
  // Nobody gets it until it is complete.
  expect(await samples.lastHour(at.ms)).toEqual([]);
  at.ms += SAMPLE_MS;
  expect(await samples.lastHour(at.ms)).toEqual([
    {
      at: new Date(START),
      ...{
        published: 3,
        deliveries: 40,
        failedAttempts: 0,
        requests: 5,
        errors: 1,
        liveEvents: 0,
        resyncs: 0,
      },
      ...{ watchers: 7, pending: 7, lagP50: null, lagP99: null },
    },
  ]);
});

test('lags are those of the last minute', async () => {
  const { at, samples } = await open();
  const lags = (quick: number, all: number) =>
    new Map([...LAG_BUCKETS, Infinity].map((bound) => [bound, bound < 0.1 ? 0 : bound < 1 ? quick : all]));
  await samples.add({ ...NOTHING, lags: lags(9, 10) }, waiting(0), at.ms);
  at.ms += SAMPLE_MS;
  await samples.add({ ...NOTHING, lags: lags(0, 10) }, waiting(0), at.ms);
  at.ms += 5 * SAMPLE_MS;
  await samples.add(NOTHING, waiting(0), at.ms);
  at.ms += SAMPLE_MS;
  const known = await samples.lastHour(at.ms);
  expect(known.map(({ at: began, lagP50, lagP99 }) => [began.getTime() - START, lagP50, lagP99])).toEqual([
    [0, 78, 950],
    [SAMPLE_MS, 545, 991],
    [6 * SAMPLE_MS, 750, 995],
  ]);
});

test('they go back an hour', async () => {
  const { at, samples } = await open();
  for (const slot of [0, 1, 2]) {
    at.ms = START + slot * SAMPLE_MS;
    await samples.add(NOTHING, waiting(0), at.ms);
  }
  at.ms = START + (MAX_SAMPLES + 1) * SAMPLE_MS;
  expect((await samples.lastHour(at.ms)).map((sample) => (sample.at.getTime() - START) / SAMPLE_MS)).toEqual([
    1, 2,
  ]);
});

test('metrics have the totals of a process', async () => {
  const metrics = createMetrics({ withProcess: false });
  metrics.actionsPublished(3);
  metrics.actionDelivered({ lane: 'LIVE', lagSeconds: 0.2 });
  metrics.actionDelivered({ lane: 'BULK', lagSeconds: 20 });
  metrics.fanOutFinished({ state: 'DONE', delivered: 12, seconds: 0.1 });
  metrics.fanOutAttemptFailed();
  for (const code of ['OK', 'NOT_FOUND']) metrics.requestFinished({ operation: null, code, seconds: 0.1 });
  metrics.liveEventSent('added');
  metrics.liveResync('AWAY');
  using _one = metrics.subscriberOpened('sse');
  const { lags, ...sums } = await metrics.totals();
  expect(sums).toEqual({
    ...{ published: 3, deliveries: 12, failedAttempts: 1, requests: 2, errors: 1 },
    ...{ liveEvents: 1, resyncs: 1, watchers: 1 },
  });
  expect([lags.get(0.1), lags.get(0.25), lags.get(30), lags.get(Infinity)]).toEqual([0, 1, 2, 2]);
});

test('a sampler that is closed adds nothing any more', async () => {
  const { samples } = await open();
  const onError = (error: unknown) => {
    throw error;
  };
  const totals = () => Promise.resolve(NOTHING);
  const sampler = startSampling({ samples, totals, pending: waiting(0), onError });
  await sampler[Symbol.asyncDispose]();
  expect(await samples.lastHour()).toEqual([]);
});

test('an admin reads them, and nobody else; with tenants there are none', async () => {
  const { samples } = await open();
  const at = Date.now() - 5 * SAMPLE_MS;
  await samples.add({ ...NOTHING, published: 1 }, waiting(2), at);
  const core = { samples } as unknown as Core;
  const read = (userId: string, role: Role) =>
    readSamples(core, openSession(core, { userId, roles: new Set([role]), expiresAt: null }));
  expect(await read('root', 'admin')).toMatchObject([{ published: 1, pending: 2 }]);
  expect(await read(storedId('acme', 'root'), 'admin')).toEqual([]);
  await expect(read('ann', 'user')).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
