import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectDatabase } from '../../src/app/collections.ts';
import { holdOneOfEach } from '../support/held-connections.ts';
import { testDatabase, type TestDatabase } from '../support/engine.ts';
import { MAIN, runCli, startCli, startCommand } from '../support/run-cli.ts';

let database: TestDatabase;
let dataDir = '';
let env: Record<string, string> = {};
beforeAll(async () => {
  database = await testDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'fanfare-serve-'));
  env = {
    MONGODB_URI: database.uri,
    MONGODB_DB: database.name,
    REDIS_URL: inject('redisUrl'),
    DATA_DIR: dataDir,
    PORT: '0',
  };
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true });
});

const READY = /GraphQL {4}(http:\S+\/graphql)/;
const TOKEN = /^authorization: (Bearer \S+)$/m;
const VIEWER = JSON.stringify({ query: '{ viewer { memberId } actions(first: 1) { edges { cursor } } }' });

async function viewer(url: string, authorization: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization };
  return (await fetch(url, { method: 'POST', headers, body: VIEWER })).json();
}

describe('fanfare serve', () => {
  it('prints its address and a token with all roles, and keeps the secret for the next start', async () => {
    await using first = startCli(['serve'], env);
    const [, url = ''] = await first.stdoutHas(READY);
    const [, authorization = ''] = await first.stdoutHas(TOKEN);
    const answer = { data: { viewer: { memberId: 'demo' }, actions: { edges: [] } } };
    expect(await viewer(url, authorization)).toEqual(answer);
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain(authorization.slice('Bearer '.length));
    const { stdout: other } = await runCli(['token', '--sub', 'demo', '--roles', 'admin'], env);
    expect(await viewer(url, `Bearer ${other.trim()}`)).toEqual(answer);
    await using _held = await holdOneOfEach(Number(new URL(url).port), authorization);
    first.signal('SIGTERM');
    const { code, stdout, stderr } = await first.result;
    // Closing that takes too long exits with 1.
    expect(code).toBe(0);
    expect(stdout).toContain(join(dataDir, 'jwt-secret'));
    expect(stderr).not.toContain(authorization.slice('Bearer '.length));

    await using second = startCli(['serve'], env);
    const [, again = ''] = await second.stdoutHas(READY);
    expect(await viewer(again, authorization)).toEqual(answer);
  });

  it('continues if its log is on a full disk', async () => {
    const command = `exec '${process.execPath}' '${MAIN}' serve 2> /dev/full`;
    await using server = startCommand('/bin/sh', ['-c', command], { env: { ...env, LOG_LEVEL: 'debug' } });
    const [, url = ''] = await server.stdoutHas(READY);
    const [, authorization = ''] = await server.stdoutHas(TOKEN);
    for (const _time of ['first', 'second'])
      expect(await viewer(url, authorization)).toMatchObject({ data: { viewer: { memberId: 'demo' } } });
    server.signal('SIGTERM');
    expect((await server.result).code).toBe(0);
  });

  it('does not start on a database of a newer release', async () => {
    await using newer = await testDatabase();
    await using connected = await connectDatabase({ uri: newer.uri, db: newer.name });
    await connected.collections.schema.insertOne({ _id: 'schema', version: 99 });
    const { code, stderr } = await runCli(['serve'], { ...env, MONGODB_DB: newer.name });
    expect(code).toBe(1);
    expect(stderr).toContain('has schema version 99, and this version of the server knows those up to');
    const doctor = await runCli(['doctor'], { ...env, MONGODB_DB: newer.name });
    expect(doctor.stdout).toMatch(/^FAIL {2}Schema .*written by a newer release/m);
    expect(doctor.code).toBe(1);
  });

  it('treats two Ctrl-C in quick succession as one', async () => {
    await using cli = startCli(['serve'], env);
    await cli.stdoutHas(READY);
    cli.signal('SIGINT');
    cli.signal('SIGINT');
    expect((await cli.result).code).toBe(0);
  });

  it('shuts down cleanly if the signal arrives during its start', async () => {
    await using cli = startCli(['serve'], { ...env, LOG_LEVEL: 'info' });
    await cli.stderrHas(/"msg":"Databases"/);
    cli.signal('SIGTERM');
    const { code, stdout, stderr } = await cli.result;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/"msg":"Closed"/);
  });

  it('prints no token in production, where GraphiQL is off', async () => {
    const production = {
      ...env,
      NODE_ENV: 'production',
      JWT_SECRET: 'a-secret-of-an-operator-of-over-32-bytes',
    };
    await using cli = startCli(['serve', '--no-worker'], production);
    const [, url = ''] = await cli.stdoutHas(READY);
    await cli.stdoutHas(/Databases.*\n/);
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type') ?? '').not.toContain('text/html');
    cli.signal('SIGTERM');
    const { code, stdout } = await cli.result;
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/Bearer|eyJ/);
  });

  it('requires the configured issuer and audience', async () => {
    const key = { ...env, JWT_SECRET: 'a-secret-of-an-operator-of-over-32-bytes' };
    const notified = { ...key, JWT_ISSUER: 'house', JWT_AUDIENCE: 'feeds' };
    await using cli = startCli(['serve', '--no-worker'], notified);
    const [, url = ''] = await cli.stdoutHas(READY);
    const answerTo = async (tokenEnv: Record<string, string>) => {
      const { stdout } = await runCli(['token', '--sub', 'demo', '--roles', 'admin'], tokenEnv);
      return JSON.stringify(await viewer(url, `Bearer ${stdout.trim()}`));
    };
    expect(await answerTo(notified)).toContain('"memberId":"demo"');
    expect(await answerTo(key)).toContain('UNAUTHENTICATED');
    expect(await answerTo({ ...notified, JWT_AUDIENCE: 'other' })).toContain('UNAUTHENTICATED');
  });

  it('reports a port in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    // It would start its own databases first.
    const own = { PORT: String(port), DATA_DIR: join(dataDir, 'taken'), JWT_SECRET: 'x'.repeat(32) };
    for (const args of [['serve'], ['serve', '--processes', '2']]) {
      const { code, stdout, stderr } = await runCli(args, own);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('choose another PORT, or PORT=0');
      expect(stderr).not.toMatch(/^ {4}at /m);
    }
    taken.close();
    expect(existsSync(own.DATA_DIR)).toBe(false);
  });
});

describe('fanfare worker', () => {
  it('needs no key, opens no port and exits with 0 on SIGTERM', async () => {
    const { MONGODB_URI, MONGODB_DB, REDIS_URL } = env;
    const given = { MONGODB_URI, MONGODB_DB, REDIS_URL } as Record<string, string>;
    const misspelt = { FEED_MODLE: 'items' };
    await using cli = startCli(['worker'], {
      ...given,
      ...misspelt,
      DATA_DIR: dataDir,
      NODE_ENV: 'production',
    });
    await cli.stderrHas(/"setting":"FEED_MODLE","because":"it is no setting: is FEED_MODEL meant\?"/);
    await cli.stderrHas(/Fan-out worker started/);
    cli.signal('SIGTERM');
    const { code, stdout } = await cli.result;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });
});

describe('fanfare doctor', () => {
  it('finds no fault with databases that respond', async () => {
    const { code, stdout } = await runCli(['doctor'], { ...env, FEED_MODLE: 'capped' });
    expect(stdout).toMatch(/^note +Settings +FEED_MODLE is no setting: is FEED_MODEL meant\?$/m);
    expect(stdout).toMatch(/^ok +MongoDB +\S+ answers/m);
    expect(stdout).toMatch(/^ok +Redis +\S+ \S+ answers/m);
    expect(stdout).toMatch(/^ok +Indexes +(\d+) of \1 present/m);
    expect(code).toBe(0);
  });

  it('reports a missing index', async () => {
    await database.db.collection('newsfeedItems').dropIndex('page');
    const { code, stdout } = await runCli(['doctor'], env);
    expect(stdout).toMatch(/^FAIL +Indexes +.* missing: newsfeedItems\.page$/m);
    expect(code).toBe(1);
  });

  it('checks everything though one part does not respond, and shows no password', async () => {
    const { code, stdout } = await runCli(['doctor'], { ...env, REDIS_URL: 'redis://:hunter2@127.0.0.1:1' });
    expect(stdout).toMatch(/^ok +MongoDB/m);
    expect(stdout).toMatch(/^FAIL +Redis/m);
    expect(stdout).not.toContain('hunter2');
    expect(code).toBe(1);
  });
});
