import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TEST_SECRET } from '../support/app.ts';
import {
  ALL_FINE,
  readiness,
  startAppOnLocalEngine,
  tryEverything,
  type AppOnLocalEngine,
} from '../support/local-engine.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { startFanfare, type FanfareProcess } from '../support/processes.ts';
import { testCacheDir } from '../support/engine.ts';
import { IS_DEEP } from '../support/seed.ts';

const RECOVERS_WITHIN = { timeout: PATIENCE_MS, interval: 250 };

function kill(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid === undefined) throw new Error('There is no such process');
  process.kill(pid, signal);
}

/** Tries everything until it works again; gives the codes that clients got meanwhile. */
async function codesUntilFine({ app }: AppOnLocalEngine): Promise<readonly string[]> {
  const codes = new Set<string>();
  await expect
    .poll(async () => {
      const outcomes = await tryEverything(app);
      for (const outcome of Object.values(outcomes)) codes.add(outcome);
      return [outcomes, (await readiness(app)).status];
    }, RECOVERS_WITHIN)
    .toEqual([ALL_FINE, 200]);
  return [...codes].filter((code) => code !== 'ok');
}

test('any local service that dies is restarted, and the server continues without a restart', async () => {
  await using world = await startAppOnLocalEngine();
  expect(await tryEverything(world.app)).toEqual(ALL_FINE);
  for (const service of world.services) {
    const before = world.pidOf(service);
    kill(before);
    await expect.poll(() => world.pidOf(service) ?? before, RECOVERS_WITHIN).not.toBe(before);
    const codes = await codesUntilFine(world);
    expect([service, codes.filter((code) => code !== 'UNAVAILABLE')]).toEqual([service, []]);
    expect(world.events.filter(({ step }) => step === 'exit').map(({ message }) => message)).toContainEqual(
      expect.stringMatching(
        new RegExp(`local ${service} has ended unexpectedly \\(SIGKILL\\) and is started again`),
      ),
    );
  }
});

test('while a local service is down clients get UNAVAILABLE, and the server is not ready', async ({
  skip,
}) => {
  await using world = await startAppOnLocalEngine();
  if (!world.isDocumentDb) skip('another engine is used here');
  expect(await tryEverything(world.app)).toEqual(ALL_FINE);
  for (const service of ['postgres', 'gateway']) {
    // A keeper that stands still starts nothing.
    kill(world.keeperPid, 'SIGSTOP');
    kill(world.pidOf(service));
    await expect.poll(async () => (await readiness(world.app)).status, RECOVERS_WITHIN).toBe(503);
    expect((await readiness(world.app)).body).toMatchObject({ checks: { database: 'failed' } });
    for (const _round of IS_DEEP ? [1, 2, 3] : [1]) {
      const { feed, follow, publish, unfollow } = await tryEverything(world.app);
      expect([service, feed, follow, publish, unfollow]).toEqual([
        service,
        ...Array.from({ length: 4 }, () => 'UNAVAILABLE'),
      ]);
    }
    kill(world.keeperPid, 'SIGCONT');
    expect((await codesUntilFine(world)).filter((code) => code !== 'UNAVAILABLE')).toEqual([]);
  }
});

test('a server logs the death of its database as an error, and exits with 0 when stopped right after it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'fanfare-outage-'));
  try {
    const env = { DATA_DIR: dataDir, JWT_SECRET: TEST_SECRET, PORT: '0' };
    await using server = startFanfare(['serve'], env);
    await server.logged(({ url }) => typeof url === 'string');
    kill(recordedPid(dataDir, (name) => name === 'postgres' || name === 'mongod'));
    const line = await server.logged(({ step }) => step === 'exit');
    expect(line).toMatchObject({ level: 'error' });
    server.kill('SIGTERM');
    const code = await server.exited();
    expect([code, server.log.filter(({ level }) => level === 'fatal')]).toEqual([0, []]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

describe.each<readonly [name: string, args: readonly string[]]>([
  ['one process', ['serve']],
  ['several processes', ['serve', '--processes', '2']],
])('a server of %s whose keeper is killed', (_name, args) => {
  test('ends with 1 and says why, as do those that joined its databases; the next start is ready', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'fanfare-keeper-'));
    try {
      const env = { DATA_DIR: dataDir, JWT_SECRET: TEST_SECRET, PORT: '0', CACHE_DIR: testCacheDir() };
      const start = async (): Promise<FanfareProcess> => {
        const server = startFanfare(args, env);
        await server.logged(({ url }) => typeof url === 'string');
        return server;
      };
      {
        await using server = await start();
        await using joined = startFanfare(['worker'], env);
        await joined.logged(({ msg }) => msg === 'Fan-out worker started');
        const { keeper } = JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as {
          readonly keeper: { pid: number };
        };
        kill(keeper.pid);
        expect(await Promise.all([server.exited(), joined.exited()])).toEqual([1, 1]);
        for (const { log } of [server, joined])
          expect(log).toContainEqual(
            expect.objectContaining({
              step: 'lost',
              level: 'error',
              msg: expect.stringContaining('keep') as string,
            }),
          );
      }
      await using again = await start();
      const { url } = await again.logged((line) => typeof line['url'] === 'string');
      await expect.poll(async () => (await fetch(`${String(url)}/ready`)).status, RECOVERS_WITHIN).toBe(200);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

function recordedPid(dataDir: string, fits: (name: string) => boolean): number | undefined {
  const record = JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as {
    readonly services: readonly { readonly name: string; readonly identity: { readonly pid: number } }[];
  };
  return record.services.find(({ name }) => fits(name))?.identity.pid;
}
