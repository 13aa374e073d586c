import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import type { EmbeddedEvent } from '../../src/events.ts';
import { downloadMongod } from '../../src/mongo/download-mongod.ts';
import { startEmbeddedServices, startMongo } from '../../src/services.ts';
import { startTcpProxy } from '../../../../test/integration/realtime/tcp-proxy.ts';
import { testCacheDir } from '../../../../test/support/engine.ts';
import { PATH, connectMongo, pathWithOnly, remainingProcesses, testFolder } from '../integration/support.ts';

const silent = { onEvent: () => undefined };

// No test may fetch a mongod, nor find one that somebody fetched: a version nobody has, from a closed port.
beforeEach(() => {
  vi.stubEnv('MONGOMS_VERSION', '8.0.999');
  vi.stubEnv('MONGOMS_DOWNLOAD_MIRROR', 'http://127.0.0.1:1');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/**
 * A stand-in for mongod: writes down how it was called, and passes connections on to the engine of the run, by way of a port:
 * where we are root it is another user, who does not reach the engine.
 */
function makeMongod(bin: string, port = 1): void {
  mkdirSync(bin, { recursive: true });
  chmodSync(dirname(bin), 0o755);
  const file = join(bin, 'mongod');
  writeFileSync(
    file,
    `#!${process.execPath}
const { connect, createServer } = require('node:net');
if (process.argv.includes('--version')) process.exit(0);
const value = (name) => process.argv[process.argv.indexOf(name) + 1];
const called = [process.getuid(), ...process.argv.slice(2)].join(' ');
require('node:fs').writeFileSync(value('--dbpath') + '/called', called);
createServer((socket) => {
  const other = connect(${port});
  for (const end of [socket, other]) end.on('error', () => { socket.destroy(); other.destroy(); });
  socket.pipe(other).pipe(socket);
}).listen(value('--bind_ip'));
`,
  );
  chmodSync(file, 0o755);
}

async function listen(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

test('uses given addresses and nothing else, even if no server answers there', async () => {
  await using folder = testFolder();
  const dataDir = join(folder.path, 'data');
  makeMongod(join(folder.path, 'bin'));
  const given = { mongodbUri: 'mongodb://127.0.0.1:1/', redisUrl: 'redis://127.0.0.1:1' };
  await using services = await startEmbeddedServices({
    ...given,
    ...silent,
    dataDir,
    cacheDir: join(folder.path, 'cache'),
    durability: 'fast',
    path: `${join(folder.path, 'bin')}:${PATH}`,
  });
  expect(services).toMatchObject({ ...given, mongodbKind: 'given', redisKind: 'given' });
  expect(readdirSync(folder.path)).toEqual(['bin']);
});

test('starts only services without a given address', async () => {
  await using folder = testFolder();
  const options = { ...silent, cacheDir: testCacheDir(), durability: 'fast' as const, path: PATH };
  const mongodbUri = 'mongodb://127.0.0.1:1/';
  await using redisOnly = await startEmbeddedServices({
    ...options,
    mongodbUri,
    dataDir: join(folder.path, 'a'),
  });
  expect(redisOnly).toMatchObject({
    mongodbUri,
    mongodbKind: 'given',
    redisKind: expect.stringMatching(/-server$/) as string,
  });
  expect(readdirSync(join(folder.path, 'a'))).not.toContain('postgres.log');
  const redisUrl = 'redis://127.0.0.1:1';
  await using mongoOnly = await startEmbeddedServices({
    ...options,
    redisUrl,
    dataDir: join(folder.path, 'b'),
  });
  expect(mongoOnly).toMatchObject({ redisUrl, redisKind: 'given' });
  expect(mongoOnly.mongodbKind).not.toBe('given');
  expect(readdirSync(join(folder.path, 'b'))).not.toContain('redis.log');
});

test('prefers a mongod on PATH, with its data in the folder', async () => {
  await using folder = testFolder();
  const bin = join(folder.path, 'bin');
  const dataDir = join(folder.path, 'data');
  await using proxy = await startTcpProxy(inject('mongodbUri'));
  makeMongod(bin, proxy.port);
  const events: EmbeddedEvent[] = [];
  {
    await using mongo = await startMongo({
      dataDir,
      cacheDir: testCacheDir(),
      durability: 'fast',
      path: `${bin}:${PATH}`,
      onEvent: (event) => events.push(event),
    });
    expect(mongo.kind).toBe('mongod');
    await using connected = await connectMongo(mongo.uri);
    expect(await connected.client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
    const called = readFileSync(join(dataDir, 'mongod', 'called'), 'utf8');
    const uid = process.getuid?.() === 0 ? 59_434 : process.getuid?.();
    expect(called).toContain(`${String(uid)} --dbpath /proc/self/cwd --bind_ip ./mongod.sock --nounixsocket`);
    expect(statSync(join(dataDir, 'mongod')).mode & 0o777).toBe(0o700);
  }
  expect(events).toContainEqual({
    step: 'choice',
    message: expect.stringContaining('found on PATH') as string,
  });
  expect(await remainingProcesses(folder.path)).toEqual([]);
});

test('skips a mongod that cannot run, and reports it', async () => {
  await using folder = testFolder();
  const bin = pathWithOnly(folder.path, ['sh', 'setpriv']);
  chmodSync(folder.path, 0o755);
  writeFileSync(join(bin, 'mongod'), '#!/bin/sh\necho wrong processor >&2\nexit 1\n', { mode: 0o755 });
  await expect(
    startMongo({
      dataDir: join(folder.path, 'data'),
      cacheDir: join(folder.path, 'cache'),
      durability: 'fast',
      path: bin,
    }),
  ).rejects.toMatchObject({
    code: 'NO_MONGODB',
    message: expect.stringContaining(
      'mongod does not run (mongod failed (exit 1): wrong processor)',
    ) as string,
  });
});

test('uses the engine that created the data, and reports if it is no longer available', async () => {
  await using folder = testFolder();
  const bin = join(folder.path, 'with-mongod');
  await using proxy = await startTcpProxy(inject('mongodbUri'));
  makeMongod(bin, proxy.port);
  const options = { cacheDir: testCacheDir(), durability: 'fast' as const };
  const withMongod = `${bin}:${PATH}`;
  const madeByMongod = join(folder.path, 'made-by-mongod');
  mkdirSync(join(madeByMongod, 'mongod'), { recursive: true });
  writeFileSync(join(madeByMongod, 'mongod', 'WiredTiger'), '');
  await expect(startMongo({ ...options, dataDir: madeByMongod, path: PATH })).rejects.toMatchObject({
    code: 'NO_MONGODB',
    message: expect.stringContaining('was made by mongod') as string,
  });
  const madeByDocumentDb = join(folder.path, 'made-by-documentdb');
  mkdirSync(join(madeByDocumentDb, 'documentdb'), { recursive: true });
  const nothing = pathWithOnly(folder.path, ['sh']);
  await expect(
    startMongo({ ...options, dataDir: madeByDocumentDb, path: `${bin}:${nothing}` }),
  ).rejects.toMatchObject({ message: expect.stringContaining('was made by documentdb') as string });
  await using fresh = await startMongo({ ...options, dataDir: join(folder.path, 'fresh'), path: withMongod });
  expect(fresh.kind).toBe('mongod');
});

test('names the three solutions if there is none, for MongoDB and for Redis', async () => {
  await using folder = testFolder();
  const options = {
    ...silent,
    dataDir: join(folder.path, 'data'),
    cacheDir: join(folder.path, 'cache'),
    durability: 'fast' as const,
    path: pathWithOnly(folder.path, ['sh']),
  };
  await expect(startEmbeddedServices({ ...options, redisUrl: 'redis://127.0.0.1:1' })).rejects.toMatchObject({
    code: 'NO_MONGODB',
    message: expect.stringMatching(/MONGODB_URI[^]*docker compose up[^]*mongod[^]*Debian/) as string,
  });
  await expect(
    startEmbeddedServices({ ...options, mongodbUri: 'mongodb://127.0.0.1:1' }),
  ).rejects.toMatchObject({
    code: 'NO_REDIS',
    message: expect.stringMatching(/REDIS_URL[^]*docker compose up[^]*redis-server/) as string,
  });
  expect(await remainingProcesses(folder.path)).toEqual([]);
});

test('does not wait for a download server that does not respond', async () => {
  await using folder = testFolder();
  await using silentServer = await listen(
    createServer((socket) => socket.on('error', () => undefined).resume()),
  );
  vi.stubEnv('MONGOMS_DOWNLOAD_MIRROR', `http://127.0.0.1:${silentServer.port}`);
  const outcome = await downloadMongod({ cacheDir: folder.path, ...silent });
  expect(outcome).toEqual({ reason: expect.stringContaining('out of reach') as string });
});

test('downloads a mongod from a server that responds, with progress', async () => {
  await using folder = testFolder();
  const content = join(folder.path, 'mongodb', 'bin');
  mkdirSync(content, { recursive: true });
  writeFileSync(join(content, 'mongod'), 'the program');
  const archive = execFileSync('tar', ['-cz', '-C', folder.path, 'mongodb']);
  const md5 = execFileSync('md5sum', { input: archive, encoding: 'utf8' });
  await using server = await listen(
    createHttpServer((request, response) => {
      const body = request.url?.endsWith('.md5') === true ? Buffer.from(md5) : archive;
      response.setHeader('content-length', body.length);
      response.end(request.method === 'HEAD' ? undefined : body);
    }),
  );
  vi.stubEnv('MONGOMS_DOWNLOAD_MIRROR', `http://127.0.0.1:${server.port}`);
  vi.stubEnv('MONGOMS_USE_HTTP', 'true');
  const cacheDir = join(folder.path, 'cache');
  vi.stubEnv('MONGOMS_DOWNLOAD_DIR', cacheDir);
  const events: EmbeddedEvent[] = [];
  const outcome = await downloadMongod({ cacheDir, onEvent: (event) => events.push(event) });
  if (!('binary' in outcome)) throw new Error(outcome.reason);
  expect(existsSync(outcome.binary)).toBe(true);
  expect(readFileSync(outcome.binary, 'utf8')).toBe('the program');
  expect(events.at(-1)).toMatchObject({ step: 'download', fraction: 1 });
});
