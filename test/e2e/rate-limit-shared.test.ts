import { expect, test } from 'vitest';
import { startRedisProcess } from '../integration/realtime/redis-process.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { PATIENCE_MS } from '../support/patience.ts';

async function codes(app: TestApp, times: number, sub = 'busy'): Promise<string[]> {
  const found: string[] = [];
  for (let n = 0; n < times; n += 1) {
    const { errors } = await app.query('{ viewer { memberId } }', {}, { sub });
    found.push(errors[0]?.extensions.code ?? 'OK');
  }
  return found;
}

test('several processes on one Redis count together', async () => {
  const env = { RATE_LIMIT: '4/1h' };
  await using one = await startTestApp({ worker: false, env });
  await using two = await startTestApp({ worker: false, env, database: one.database });
  expect(await codes(one, 2)).toEqual(['OK', 'OK']);
  expect(await codes(two, 3)).toEqual(['OK', 'OK', 'RATE_LIMITED']);
  expect(await codes(one, 2)).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
  expect(await codes(one, 1, 'another')).toEqual(['OK']);
  // Another installation on the same Redis counts for itself.
  await using stranger = await startTestApp({ worker: false, env });
  expect(await codes(stranger, 1)).toEqual(['OK']);
});

test('a window that is over gives a new share', async () => {
  await using app = await startTestApp({ worker: false, env: { RATE_LIMIT: '1/1500ms' } });
  // Databases of tests are lent out again, and with them the prefix: the windows of an hour above still run.
  const sub = 'patient';
  // The window of a second and a half is counted as one of two seconds with a share of one.
  await expect.poll(() => codes(app, 5, sub), { timeout: PATIENCE_MS }).toContain('RATE_LIMITED');
  await expect.poll(() => codes(app, 1, sub), { timeout: PATIENCE_MS }).toEqual(['OK']);
});

test('each process counts on its own while Redis is away', async () => {
  await using redis = await startRedisProcess();
  await using app = await startTestApp({
    worker: false,
    env: { RATE_LIMIT: '3/1h', REDIS_URL: redis.url },
  });
  expect(await codes(app, 1)).toEqual(['OK']);
  await redis.kill();
  const after = await codes(app, 5);
  expect(after.slice(0, 2)).toEqual(['OK', 'OK']);
  expect(after.at(-1)).toBe('RATE_LIMITED');
});
