import { execFile, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { servicesCanReach } from '../../packages/local-engine/src/process/service-user.ts';
import { startTcpProxy, through, type TcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { testDatabase, type TestDatabase } from '../support/engine.ts';
import { IMAGE_UID, makeImage, type Image } from '../support/image.ts';
import { PROJECT } from '../support/project-copy.ts';
import { startCommand, type RunningCli } from '../support/run-cli.ts';
import { IS_DEEP } from '../support/seed.ts';

const run = promisify(execFile);
const JWT_SECRET = 'a-secret-of-an-operator-of-over-32-bytes';

let image: Image;
let database: TestDatabase;
/** The image's user cannot reach the sockets of the run's databases: it connects to ports, as in a network of containers. */
let ports: { readonly mongodb: TcpProxy; readonly redis: TcpProxy };
let env: Record<string, string> = {};
beforeAll(async () => {
  image = await makeImage();
  database = await testDatabase();
  ports = { mongodb: await startTcpProxy(database.uri), redis: await startTcpProxy(inject('redisUrl')) };
  env = {
    ...image.env,
    HOST: '127.0.0.1',
    PORT: await freePort(),
    DATA_DIR: join(image.root, image.env['DATA_DIR'] ?? ''),
    MONGODB_URI: through(database.uri, ports.mongodb),
    MONGODB_DB: database.name,
    REDIS_URL: through(inject('redisUrl'), ports.redis),
    PATH: process.env['PATH'] ?? '',
  };
}, 600_000);
afterAll(async () => {
  await ports.mongodb[Symbol.asyncDispose]();
  await ports.redis[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await image[Symbol.asyncDispose]();
});

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(typeof address === 'object' ? address?.port : 0);
}

/** As the user of the image, where we may become that, and Node is not in a folder that is root's alone. */
function asImageUser(): { uid: number; gid: number } | Record<string, never> {
  return process.getuid?.() === 0 && servicesCanReach(process.execPath)
    ? { uid: IMAGE_UID, gid: IMAGE_UID }
    : {};
}

function start(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
  { root, workdir, entrypoint } = image,
): RunningCli {
  const [node = '', ...rest] = entrypoint;
  expect(node).toBe('node');
  return startCommand(process.execPath, [...rest, ...args], {
    cwd: join(root, workdir),
    env: { ...env, ...more },
    ...asImageUser(),
  });
}

describe('the image', () => {
  it('contains neither the local engine nor its dependencies, and says so if no database is configured', async () => {
    const packages = await readdir(join(image.root, image.workdir, 'node_modules'));
    expect(packages).toContain('mongodb');
    expect(
      packages.filter((name) => ['@fanfare', 'pg', 'mongodb-memory-server-core'].includes(name)),
    ).toEqual([]);
    const { code, stderr } = await start(image.command, { JWT_SECRET, MONGODB_URI: '', REDIS_URL: '' })
      .result;
    expect(code).toBe(1);
    expect(stderr).toContain('set MONGODB_URI and REDIS_URL, or run npm install @fanfare/local-engine');
  });

  it('runs as a user other than root, serves, passes its health check and shuts down cleanly', async () => {
    expect(image.user).toBe('node');
    await using server = start(image.command, { JWT_SECRET });
    await server.stdoutHas(/is ready/);
    const [, ...check] = image.check;
    await run(process.execPath, check, { env });
    server.signal('SIGTERM');
    expect((await server.result).code).toBe(0);
    await expect(run(process.execPath, check, { env })).rejects.toMatchObject({ code: 1 });
  });

  it('accepts JWKS_URI instead of a secret', async () => {
    await using server = start(['serve', '--no-worker'], {
      JWT_SECRET: '',
      JWKS_URI: 'http://127.0.0.1:1/keys.json',
    });
    await server.stdoutHas(/is ready/);
    server.signal('SIGTERM');
    expect((await server.result).code).toBe(0);
  });

  it('creates a project', async () => {
    const folder = env['DATA_DIR'] ?? '';
    const { code } = await start(['init', join(folder, 'project')]).result;
    expect(code).toBe(0);
    expect(await readdir(join(folder, 'project'))).toContain('example.ts');
  });

  it('runs a worker that reports its health', async () => {
    await using worker = start(['worker']);
    await worker.stderrHas(/Fan-out worker started/);
    await expect
      .poll(async () => (await start(['worker', '--health']).result).code, { timeout: 90_000 })
      .toBe(0);
    worker.signal('SIGTERM');
    expect((await worker.result).code).toBe(0);
    expect((await start(['worker', '--health']).result).code).toBe(1);
  });
});

describe('the telemetry SDK', () => {
  it('is not included by default, which --telemetry reports', async () => {
    const { code, stderr } = await start(['serve', '--telemetry'], { JWT_SECRET }).result;
    expect(code).toBe(1);
    expect(stderr).toContain('--telemetry requires the SDK');
  });

  it.runIf(IS_DEEP)(
    'is included with TELEMETRY=on, beside the packages of FEDERATION=on, and is used',
    async () => {
      await using telling = await makeImage({ TELEMETRY: 'on', FEDERATION: 'on' });
      const more = { JWT_SECRET, OTEL_TRACES_EXPORTER: 'none', FEDERATION: 'on' };
      await using server = start(['serve', '--telemetry'], more, telling);
      await server.stdoutHas(/is ready/);
      server.signal('SIGTERM');
      expect((await server.result).code).toBe(0);
    },
  );
});

const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 20_000 }).status === 0;

it.skipIf(!hasDocker)('Docker builds it (skipped without Docker)', async () => {
  await run('docker', ['build', '--quiet', PROJECT], { timeout: 170_000 });
});
