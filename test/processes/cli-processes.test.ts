import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { TEST_SECRET } from '../support/app.ts';
import { testDatabase, type TestDatabase } from '../support/engine.ts';
import { feedOf, publish, upsert } from '../support/feed-api.ts';
import { watchFeed, type FeedWatcher } from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { isLeftOut } from '../support/needed.ts';
import { hasScript, startInTerminal } from '../support/pseudo-terminal.ts';
import { isRunning } from '../support/processes.ts';
import { MAIN, runCli, startCli, type RunningCli } from '../support/run-cli.ts';
import { clientOf } from '../support/serving.ts';

let database: TestDatabase;
let dataDir = '';
let env: Record<string, string> = {};
beforeAll(async () => {
  database = await testDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'fanfare-processes-'));
  env = {
    MONGODB_URI: database.uri,
    MONGODB_DB: database.name,
    REDIS_URL: inject('redisUrl'),
    DATA_DIR: dataDir,
    JWT_SECRET: TEST_SECRET,
    PORT: '0',
  };
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true });
});

const READY = /GraphQL {4}(http:\S+)\/graphql/;

/** Numbers and process ids of the processes that were started so far, in that order. */
async function started(cli: RunningCli, times: number): Promise<{ process: number; pid: number }[]> {
  const line = /\{[^{}]*"msg":"Process started"\}/;
  const [text] = await cli.stderrHas(new RegExp(`(?:${line.source}[^]*?){${String(times)}}`));
  return [...text.matchAll(new RegExp(line, 'g'))].map(
    ([json]) => JSON.parse(json) as { process: number; pid: number },
  );
}

async function figure(url: string, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]);
}

async function readiness(url: string): Promise<unknown> {
  return (await fetch(`${url}/ready`)).json();
}

describe('several processes', () => {
  it('act as one: metrics are added up, and a dead process is replaced while the sockets of others stay open', async () => {
    await using cli = startCli(['serve', '--processes', '2'], env);
    const [, url = ''] = await cli.stdoutHas(READY);
    const members = await started(cli, 2);
    expect(members.map(({ process }) => process).sort()).toEqual([1, 2]);
    expect(await readiness(url)).toEqual({
      status: 'ready',
      checks: { processes: 'ok', database: 'ok', clock: 'ok', redis: 'ok' },
    });

    const client = clientOf(url);
    await upsert(client, { pairs: [{ followerId: 'ann', refId: 'actor' }] });
    const watchers = await Promise.all(
      Array.from({ length: 6 }, () => watchFeed('WebSocket', client, 'ann')),
    );
    // Connections are handed out in turn, so that both have some of them.
    await expect
      .poll(() => figure(url, 'fanfare_live_subscribers\\{transport="websocket"\\}'), {
        timeout: PATIENCE_MS,
      })
      .toBe(6);
    expect(await figure(url, 'fanfare_processes')).toBe(2);
    const before = await publish(client);
    for (const watcher of watchers) expect(await watcher.addedUntil(before)).toEqual([]);

    process.kill(members[0]?.pid ?? 0, 'SIGKILL');
    const [, , third] = await started(cli, 3);
    expect(third?.process).toBe(members[0]?.process);
    await expect.poll(() => readiness(url), { timeout: PATIENCE_MS }).toMatchObject({ status: 'ready' });
    expect(await figure(url, 'fanfare_process_ends_total')).toBe(1);
    const after = await publish(client);
    const ends = await Promise.all(watchers.map((watcher) => goesOn(watcher, after)));
    expect(ends.filter((isOpen) => isOpen).length).toBeGreaterThan(0);
    expect(ends.filter((isOpen) => !isOpen).length).toBeGreaterThan(0);
    await Promise.all(watchers.map((watcher) => watcher[Symbol.asyncDispose]()));

    cli.signal('SIGTERM');
    const { code, stderr } = await cli.result;
    expect(code).toBe(0);
    expect(stderr.match(/"msg":"Closed"/g)).toHaveLength(3);
    for (const pid of [members[1]?.pid, third?.pid]) expect(isRunning(pid ?? 0)).toBe(false);
  });

  it('are replaced when an operator ends one, and are not ready meanwhile', async () => {
    await using cli = startCli(['worker', '--processes', '2'], { ...env, METRICS_PORT: '0' });
    const [, page = ''] = await cli.stderrHas(/"url":"(http:\S+)\/metrics"/);
    const [first] = await started(cli, 2);
    await expect.poll(() => figure(page, 'fanfare_processes'), { timeout: PATIENCE_MS }).toBe(2);
    expect(await figure(page, 'fanfare_fan_out_pending')).toBe(0);
    expect((await runCli(['worker', '--health'], env)).code).toBe(0);
    process.kill(first?.pid ?? 0, 'SIGTERM');
    await started(cli, 3);
    expect(await cli.stderrHas(/"code":0[^}]*"msg":"Process ended"/)).toBeTruthy();
    cli.signal('SIGTERM');
    expect((await cli.result).code).toBe(0);
  });

  it('are not ready while one of them hangs, and report the metrics of the others', async () => {
    await using cli = startCli(['serve', '--no-worker', '--processes', '2'], env);
    const [, url = ''] = await cli.stdoutHas(READY);
    const [first] = await started(cli, 2);
    /** Of a process that answers: connections are handed to the one that hangs too. */
    const ask = async (path: string): Promise<{ status: number; text: string }> => {
      const response = await fetch(url + path, { signal: AbortSignal.timeout(10_000) });
      return { status: response.status, text: await response.text() };
    };
    const asked = (path: string): Promise<unknown> => ask(path).catch(String);
    process.kill(first?.pid ?? 0, 'SIGSTOP');
    await expect
      .poll(() => asked('/ready'), { timeout: PATIENCE_MS })
      .toEqual({ status: 503, text: expect.stringContaining('"processes":"failed"') as string });
    await expect
      .poll(() => asked('/metrics'), { timeout: PATIENCE_MS })
      .toEqual({ status: 200, text: expect.stringMatching(/^fanfare_processes 2$/m) as string });
    process.kill(first?.pid ?? 0, 'SIGCONT');
    await expect.poll(() => asked('/ready'), { timeout: PATIENCE_MS }).toMatchObject({ status: 200 });
  });

  it('are replaced when they hang, while the others continue and no publication is lost', async () => {
    const settings = { PROCESS_SILENCE: '6s', FAN_OUT_LEASE: '2s' };
    await using cli = startCli(['serve', '--processes', '2'], { ...env, ...settings });
    const [, url = ''] = await cli.stdoutHas(READY);
    const [first] = await started(cli, 2);
    const client = clientOf(url);
    await upsert(client, { pairs: [{ followerId: 'eve', refId: 'actor' }] });
    const published = await Promise.all(Array.from({ length: 8 }, () => publish(client)));
    // Its event loop stands still, and no signal but SIGKILL ends it.
    process.kill(first?.pid ?? 0, 'SIGSTOP');
    const isAlive = (): Promise<number | null> =>
      fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000), headers: { connection: 'close' } }).then(
        ({ status }) => status,
        () => null,
      );
    await expect.poll(isAlive, { timeout: PATIENCE_MS }).toBe(200);
    const [line] = await cli.stderrHas(/\{[^{}]*"msg":"Process did not respond and was killed"\}/);
    expect(JSON.parse(line)).toMatchObject({
      ...{ process: first?.process, pid: first?.pid, silentForMs: 6_000 },
    });
    const [, , third] = await started(cli, 3);
    expect(third?.process).toBe(first?.process);
    expect(isRunning(first?.pid ?? 0)).toBe(false);
    await expect.poll(() => readiness(url), { timeout: PATIENCE_MS }).toMatchObject({ status: 'ready' });
    await expect
      .poll(async () => (await feedOf(client, 'eve')).map(({ action }) => action.id), {
        timeout: PATIENCE_MS,
      })
      .toEqual(expect.arrayContaining(published));
    cli.signal('SIGTERM');
    expect((await cli.result).code).toBe(0);
  });

  it('are replaced when they hang during their start, and the command continues', async () => {
    const settings = { PROCESS_START_SILENCE: '8s' };
    await using cli = startCli(['serve', '--no-worker', '--processes', '2'], { ...env, ...settings });
    const [first] = await started(cli, 2);
    process.kill(first?.pid ?? 0, 'SIGSTOP');
    const [line] = await cli.stderrHas(
      /\{[^{}]*"msg":"Process did not respond during its start and was killed"\}/,
    );
    expect(JSON.parse(line)).toMatchObject({
      ...{ process: first?.process, pid: first?.pid, silentForMs: 8_000 },
    });
    const [, url = ''] = await cli.stdoutHas(READY);
    expect(isRunning(first?.pid ?? 0)).toBe(false);
    expect(await readiness(url)).toMatchObject({ status: 'ready' });
    // On a busy machine the other one may take as long to start.
    expect(await figure(url, 'fanfare_process_ends_total')).toBeGreaterThanOrEqual(1);
    cli.signal('SIGTERM');
    expect((await cli.result).code).toBe(0);
  });

  it('end with the process that started them, even if it was killed', async () => {
    await using cli = startCli(['worker', '--processes', '2'], env);
    const members = await started(cli, 2);
    cli.signal('SIGKILL');
    await cli.result;
    for (const { pid } of members)
      await expect.poll(() => isRunning(pid), { timeout: PATIENCE_MS }).toBe(false);
  });

  it('do not start if one of them cannot, and the command says why', async () => {
    const given = { ...env, PORT: '0', PERSISTED_OPERATIONS: '/nothing/here.json' };
    const { code, stderr } = await runCli(['serve', '--processes', '2'], given);
    expect(code).toBe(1);
    expect(stderr).toContain('/nothing/here.json');
    expect(stderr).toMatch(/Process \d could not start/);
  });

  it.skipIf(isLeftOut(hasScript()))(
    'shut down cleanly at Ctrl-C in a terminal, which reaches all of them',
    async () => {
      await using terminal = startInTerminal(MAIN, ['serve', '--processes', '2'], env);
      await terminal.shows(/Other tokens/);
      terminal.type('\u0003');
      const { code, screen } = await terminal.end;
      expect(code).toBe(0);
      expect(screen).not.toContain('Process ended');
      expect(screen.match(/Closed/g)).toHaveLength(3);
    },
  );
});

/** Whether a watcher still hears of an action; false when its socket has ended. */
async function goesOn(watcher: FeedWatcher, actionId: string): Promise<boolean> {
  return watcher.addedUntil(actionId).then(
    () => true,
    () => false,
  );
}
