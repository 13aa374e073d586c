import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { feedOf } from '../support/feed-api.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { skewed } from '../support/skewed.ts';

const PATIENTLY = { timeout: PATIENCE_MS };
const TEN_MINUTES = 600_000;

/** What the page says of one series; null: it has none. */
async function figure({ figures }: Pick<TestApp, 'figures'>, series: string): Promise<number | null> {
  const line = (await figures()).split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

const lagOf = (app: TestApp, what: 'sum' | 'count') =>
  figure(app, `fanfare_delivery_lag_seconds_${what}{lane="LIVE"}`);

function publish(app: TestApp) {
  return app.services.publishAction(app.identity('service', 'service'), {
    actorId: 'ann',
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'post-1' } },
    mentions: ['bob'],
  });
}

describe('the delivery lag', () => {
  test('counts from the recording of the action, however long no worker ran', async () => {
    await using api = await startTestApp({ worker: false });
    const { action } = await publish(api);
    const { actions } = api.app.database.collections;
    const recorded = new Date(action.recorded.getTime() - TEN_MINUTES);
    await actions.updateOne({ actorId: 'ann' }, { $set: { recorded } });
    await using worker = await startTestApp({ api: false, database: api.database });
    await worker.idle();
    expect(await lagOf(worker, 'count')).toBe(1);
    expect(await lagOf(worker, 'sum')).toBeGreaterThanOrEqual(TEN_MINUTES / 1_000);
    expect(await figure(worker, 'fanfare_delivery_lag_seconds_bucket{le="300",lane="LIVE"}')).toBe(0);
  });

  test('does not include the error of a wrong clock', async () => {
    await using api = await startTestApp({ worker: false });
    await publish(api);
    await skewed(TEN_MINUTES, async () => {
      await using worker = await startTestApp({ api: false, database: api.database });
      await worker.idle();
      expect(await lagOf(worker, 'count')).toBe(1);
      expect(await lagOf(worker, 'sum')).toBeLessThan(TEN_MINUTES / 1_000);
    });
  });

  test('is observed once per action, whatever changes it later', async () => {
    await using app = await startTestApp();
    const { action } = await publish(app);
    await app.idle();
    const service = app.session('service', 'service');
    await app.services.addInteraction(service, { actionId: action.id, kind: 'COMMENT', actorId: 'bob' });
    await app.idle();
    expect(await lagOf(app, 'count')).toBe(1);
    expect(await figure(app, 'fanfare_fan_out_seconds_count{state="DONE"}')).toBe(2);
  });

  test('is observed for an action that changed before its delivery', async () => {
    await using api = await startTestApp({ worker: false });
    const { action } = await publish(api);
    const service = api.session('service', 'service');
    await api.services.addInteraction(service, { actionId: action.id, kind: 'COMMENT', actorId: 'bob' });
    await using worker = await startTestApp({ api: false, database: api.database });
    await worker.idle();
    expect(await lagOf(worker, 'count')).toBe(1);
  });
});

describe('the read cache', () => {
  test('is counted by cache, as hits and misses', async () => {
    await using app = await startTestApp();
    await publish(app);
    await publish(app);
    await app.idle();
    const lookups = async (cache: string): Promise<readonly (number | null)[]> =>
      Promise.all(
        ['hit', 'miss'].map((outcome) =>
          figure(app, `fanfare_read_cache_lookups_total{cache="${cache}",outcome="${outcome}"}`),
        ),
      );
    for (const cache of ['actions', 'names', 'parts']) expect(await lookups(cache)).toEqual([0, 0]);
    const read = async (): Promise<void> => {
      expect(await feedOf(app, 'bob')).toHaveLength(2);
    };
    await read();
    expect(await lookups('actions')).toEqual([0, 2]);
    await read();
    expect(await lookups('actions')).toEqual([2, 2]);
    for (const cache of ['names', 'parts']) {
      const found = async (): Promise<number | null> => {
        await read();
        return (await lookups(cache))[0] ?? null;
      };
      await expect.poll(found, PATIENTLY).toBeGreaterThan(0);
      expect((await lookups(cache))[1]).toBeGreaterThan(0);
    }
  });
});

describe('erasures', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(async () => app[Symbol.asyncDispose]());

  const open = (state: string) => figure(app, `fanfare_erasures_open{state="${state}"}`);
  const validate = (validator: object) => app.app.database.db.command({ collMod: 'actions', validator });

  test('are counted while they are open, with their failed attempts', async () => {
    expect(await open('RUNNING')).toBe(0);
    await publish(app);
    await app.idle();
    await validate({ actorId: 'ann' });
    try {
      const erase = `mutation { eraseMember(memberId: "ann") }`;
      await app.query(erase, {}, { sub: 'admin', roles: ['admin'] });
      await expect
        .poll(() => figure(app, 'fanfare_erasure_failed_attempts_total'), PATIENTLY)
        .toBeGreaterThan(0);
      expect(await open('RUNNING')).toBe(1);
    } finally {
      await validate({});
    }
    await expect.poll(() => open('CONFIRMING'), PATIENTLY).toBe(1);
    expect(await open('RUNNING')).toBe(0);
  });
});
