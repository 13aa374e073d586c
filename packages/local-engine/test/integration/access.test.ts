import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SERVICE_UIDS, servicesCanReach } from '../../src/process/service-user.ts';
import { startEmbeddedServices, type EmbeddedServices } from '../../src/services.ts';
import { testCacheDir } from '../../../../test/support/engine.ts';
import { PATH, testFolder } from './support.ts';

// What a running local engine consists of, by what the system says of it, and who can get at it.

const folder = testFolder();
const dataDir = join(folder.path, 'data');
let services: EmbeddedServices | undefined;

beforeAll(async () => {
  // Other users of the machine can come as far as this, as with a DATA_DIR in an ordinary home.
  chmodSync(folder.path, 0o755);
  const options = { dataDir, cacheDir: testCacheDir(), durability: 'durable' as const, path: PATH };
  services = await startEmbeddedServices({ ...options, onEvent: () => undefined });
});

afterAll(async () => {
  await services?.[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

interface Kept {
  readonly name: string;
  readonly identity: { readonly pid: number };
}

function kept(): readonly Kept[] {
  return (JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as { services: Kept[] }).services;
}

function statusOf(pid: number, field: string): string {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
}

/** Of each socket the process has open, the number by which the system's lists know it. */
function socketsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${String(pid)}/fd`).flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${String(pid)}/fd/${name}`))?.[1] ?? [];
    } catch {
      return []; // Closed meanwhile.
    }
  });
}

const LISTENS = { tcp: '0A', unix: '00010000' };

/** Where a process listens: ports, and the names it gave its Unix sockets. */
function listenersOf(pid: number): { readonly ports: readonly string[]; readonly paths: readonly string[] } {
  const own = new Set(socketsOf(pid));
  const rows = (list: string) =>
    readFileSync(`/proc/${String(pid)}/net/${list}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
  const ports = ['tcp', 'tcp6'].flatMap((list) =>
    rows(list).flatMap(([, local = '', , state, , , , , , inode = '']) =>
      state === LISTENS.tcp && own.has(inode) ? [local] : [],
    ),
  );
  const paths = rows('unix').flatMap(([, , , flags, , , inode = '', path = '']) =>
    flags === LISTENS.unix && own.has(inode) ? [path] : [],
  );
  return { ports, paths };
}

/** A socket's path from DATA_DIR; services name theirs by the folder they work in. */
function socketIn(pid: number, path: string): string {
  const workplace = readlinkSync(`/proc/${String(pid)}/cwd`);
  const isAbsolute = path.startsWith('/') && !path.startsWith('/proc/self/cwd/');
  return relative(dataDir, isAbsolute ? path : join(workplace, path.replace('/proc/self/cwd/', '')));
}

const NO_CAPABILITIES = '0000000000000000';
const isRoot = process.getuid?.() === 0;

test('every process runs as the user, with the capabilities and at the socket that the docs name', () => {
  const docs = readFileSync('docs/operations.md', 'utf8');
  const processes = kept();
  expect(processes.length).toBeGreaterThanOrEqual(2);
  for (const { name, identity } of processes) {
    const { ports, paths } = listenersOf(identity.pid);
    expect([name, ports]).toEqual([name, []]);
    const [socket = ''] = paths.map((path) => socketIn(identity.pid, path));
    const isOurs = name === 'gateway';
    const uid = statusOf(identity.pid, 'Uid');
    const capabilities = ['CapEff', 'CapPrm', 'CapBnd'].map((field) => statusOf(identity.pid, field));
    const isPowerless = capabilities.every((set) => set === NO_CAPABILITIES);
    if (isRoot && !isOurs) expect([name, isPowerless, uid === '0']).toEqual([name, true, false]);
    else expect([name, uid]).toEqual([name, String(process.getuid?.())]);
    const [row = ''] = docs
      .split('\n')
      .filter((line) => line.startsWith('|') && line.includes(`\`${socket}\``));
    expect(row).toContain(name);
    expect(row).toContain(isOurs ? '| your own' : isRoot ? uid : '');
  }
});

test('nothing in DATA_DIR is accessible to others', () => {
  const open = readdirSync(dataDir).filter((name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});

/** Tries to connect to every socket it is given and to read every file, and says with which it succeeded. */
const BURGLAR = `
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
const { sockets, files } = JSON.parse(process.argv[1]);
const isOpen = (path) => new Promise((resolve) => {
  const socket = connect(path);
  for (const event of ['connect', 'error']) socket.on(event, () => { resolve(event === 'connect'); socket.destroy(); });
});
const isReadable = (path) => { try { readFileSync(path); return true; } catch { return false; } };
const open = await Promise.all(sockets.map(isOpen));
console.log(JSON.stringify([...sockets.filter((_, n) => open[n]), ...files.filter(isReadable)]));
`;

test.runIf(isRoot && servicesCanReach(process.execPath))(
  'another user of the machine can connect to no socket and read no file (tried as one, which takes root)',
  () => {
    const sockets = kept().flatMap(({ identity: { pid } }) =>
      listenersOf(pid).paths.map((path) => join(dataDir, socketIn(pid, path))),
    );
    const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(sockets.length).toBeGreaterThanOrEqual(2);
    const everything = JSON.stringify({ sockets, files });
    const tryAs = (uid: number): readonly string[] => {
      const args = ['--input-type=module', '-e', BURGLAR, everything];
      const said = execFileSync(process.execPath, args, { uid, gid: uid, cwd: '/', encoding: 'utf8' });
      return JSON.parse(said) as string[];
    };
    expect(tryAs(65_533)).toEqual([]);
    // The burglar is able to: as root it gets in. Some files of PostgreSQL have gone meanwhile.
    expect(tryAs(0)).toEqual(expect.arrayContaining([...sockets, join(dataDir, 'postgres.password')]));
    // Nor does one service reach what the others have.
    const ofRedis = tryAs(SERVICE_UIDS.redis);
    expect(ofRedis).toContain(join(dataDir, 'redis/redis.sock'));
    expect(ofRedis.filter((path) => !path.startsWith(join(dataDir, 'redis/')))).toEqual([]);
  },
);
