import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTrace } from '../../parts/demo/src/trace.ts';
import { runCli, startCli, type RunningCli } from '../support/run-cli.ts';
import { ask } from '../support/tenants.ts';

const READY = /GraphQL {4}(http:\S+)\/graphql/;

let dataDir = '';
let env: Record<string, string> = {};
let server: RunningCli;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'fanfare-beside-'));
  env = { DATA_DIR: dataDir, PORT: '0' };
  server = startCli(['serve'], env);
  await server.stdoutHas(READY);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
});

describe('beside a server with local databases, on the same DATA_DIR', () => {
  it('the demo plays on the server and keeps the names that the host has described', async () => {
    const [, url = ''] = await server.stdoutHas(READY);
    const { stdout: token } = await runCli(['token', '--sub', 'host', '--roles', 'service'], env);
    const described = { ada: { name: 'Our Ada' }, demo: { name: 'Our demo' }, lunch: { label: 'Our lunch' } };
    const { errors } = await ask(url, token.trim(), {
      query: `mutation { upsertRefs(refs: [{ id: "post:lunch", type: "post", label: "Our lunch" }])
        upsertMembers(members: [{ memberId: "ada", name: "Our Ada" }, { memberId: "demo", name: "Our demo" }]) }`,
    });
    expect(errors).toEqual([]);
    const { code, stdout, stderr } = await runCli(['demo', '--count', '1', '--interval', '10ms'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { data } = await ask(url, token.trim(), {
      query: `{ ada: member(memberId: "ada") { name } demo: member(memberId: "demo") { name }
        lunch: ref(refId: "post:lunch") { label } }`,
    });
    expect(data).toEqual(described);
    expect(stdout).toContain(`${url}/graphql`);
    expect(stdout).toMatch(/^→ /m);
  });

  it('export and rebuild use its databases', async () => {
    const exported = await runCli(['export', '--member', 'demo'], env);
    expect({ code: exported.code, stderr: exported.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(exported.stdout)).toMatchObject({ memberId: 'demo' });
    const rebuilt = await runCli(['rebuild'], env);
    expect(rebuilt.stderr).toContain('Feeds are now stored with FEED_MODEL=items.');
    expect(rebuilt.code).toBe(0);
  });

  it('rebuild uses the server of --url', async () => {
    const [, url = ''] = await server.stdoutHas(READY);
    const one = await runCli(['rebuild', '--url', url, '--member', 'demo'], env);
    expect(one.stderr).toContain('The feed of "demo" is being rebuilt');
    expect(one.code).toBe(0);
    const all = await runCli(['rebuild', '--url', url], env);
    expect(all.stderr).toContain('--url requires --member');
    expect(all.code).toBe(1);
  });

  it('doctor reports it as healthy', async () => {
    const { code, stdout } = await runCli(['doctor'], env);
    expect(stdout).toMatch(/^ok +Server +process \d+ at http:\S+ is ready$/m);
    expect(stdout).toMatch(/^ok +MongoDB/m);
    expect(stdout).not.toMatch(/^FAIL/m);
    expect(code).toBe(0);
  });

  it('a worker and another API join, and the worker reports its health', async () => {
    await using worker = startCli(['worker'], env);
    await worker.stderrHas(/Fan-out worker started/);
    await using api = startCli(['serve', '--no-worker'], { ...env, LOG_LEVEL: 'warn' });
    const [, url = ''] = await api.stdoutHas(READY);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    await expect
      .poll(async () => (await runCli(['worker', '--health'], env)).code, { timeout: 90_000 })
      .toBe(0);
    worker.signal('SIGTERM');
    expect((await worker.result).code).toBe(0);
    expect((await runCli(['worker', '--health'], env)).code).toBe(1);
    api.signal('SIGTERM');
    expect((await api.result).code).toBe(0);
  });

  // After the rebuild, which would make the feeds of all its people.
  it('the demo plays the sample trace in its order', async () => {
    const args = ['demo', '--trace', '100ms', '--count', '30'];
    const { code, stdout, stderr } = await runCli(args, env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('The sample trace: 300 actions of 2750 people');
    const times = [...stdout.matchAll(/^→ (\d\d-\d\d \d\d:\d\d) \S/gm)].map(([, time]) => time);
    const { actions } = await readTrace();
    expect(times).toEqual(
      actions.slice(0, 30).map(({ conducted }) => conducted.slice(5, 16).replace('T', ' ')),
    );
  });

  it('its files are readable only by its user, and are deleted when it ends', async () => {
    for (const file of ['running-services.json', 'server.json'])
      expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dataDir, 'running-services.json'), 'utf8')).toContain('mongodb://');
    server.signal('SIGTERM');
    expect((await server.result).code).toBe(0);
    const left = await readdir(dataDir);
    expect(left.filter((name) => /^(?:running-services|server)\.json/.test(name))).toEqual([]);
  });

  it('the files of a killed server are recognised as stale', async () => {
    await using killed = startCli(['serve'], env);
    await killed.stdoutHas(READY);
    killed.signal('SIGKILL');
    await killed.result;
    expect(await readdir(dataDir)).toContain('server.json');
    const { code, stdout } = await runCli(['doctor'], env);
    expect(stdout).not.toMatch(/^\w+ +Server/m);
    expect(stdout).toMatch(/^ok +MongoDB/m);
    expect(code).toBe(0);
  });
});
