import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/read-config.ts';
import { BROUGHT } from '../../src/app/brought.ts';
import { SETTING_NAMES } from '../support/setting-names.ts';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly env_file?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly cpus?: number;
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

const read = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
const { services } = parse(await read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
const OURS = ['api', 'worker'].map((name) => [name, services[name] ?? {}] as const);

/** The environment of a service as Compose makes it: `.env`, then what the file says, with variables put in. */
function environmentOf(service: Service, env: Readonly<Record<string, string>>): Record<string, string> {
  const given = Object.entries(service.environment ?? {}).map(([name, value]): [string, string] => [
    name,
    value.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, variable: string) => env[variable] ?? ''),
  ]);
  return { ...(service.env_file?.includes('.env') === true ? env : {}), ...Object.fromEntries(given) };
}

const PASSWORDS = { MONGODB_PASSWORD: 'abc', VALKEY_PASSWORD: 'def' };
/** What the file decides, because its other parts depend on it. */
const FIXED = ['NODE_ENV', 'HOST', 'PORT', 'TRUSTED_PROXIES', 'DATA_DIR', 'MONGODB_URI', 'REDIS_URL'];

describe('docker-compose.yml', () => {
  it.each(OURS)('passes every setting to the %s', (_, service) => {
    const marked = Object.fromEntries(SETTING_NAMES.map((name) => [name, 'from .env']));
    const environment = environmentOf(service, marked);
    const changed = SETTING_NAMES.filter((name) => environment[name] !== 'from .env');
    expect(changed.sort()).toEqual([...FIXED].sort());
  });

  it.each([
    ['a secret', { JWT_SECRET: 'x'.repeat(32) }],
    ['the address of the keys', { JWT_SECRET: '', JWKS_URI: 'https://login.example.com/keys.json' }],
  ])('starts with %s', (_, identity) => {
    for (const [, service] of OURS) {
      const config = readConfig(environmentOf(service, { ...PASSWORDS, ...identity }), BROUGHT);
      expect(config.mongodb.uri).toContain('fanfare:abc@mongodb');
      expect(config.redis.url).toContain(':def@valkey');
    }
  });

  it('requires passwords for both databases, without defaults', () => {
    expect(services['mongodb']?.entrypoint?.join(' ')).toContain('--keyFile');
    expect(services['valkey']?.command?.join(' ')).toContain('\nrequirepass "$$VALKEY_PASSWORD"\n');
    for (const name of Object.keys(PASSWORDS)) {
      const used = JSON.stringify(services).match(new RegExp(String.raw`\$\{${name}[^}]*\}`, 'g')) ?? [];
      expect(used.length).toBeGreaterThan(1);
      for (const use of used) expect(use).toContain(':?');
    }
  });

  it('has no password in process arguments, which every process of the machine can read', () => {
    for (const [name, { command = [], entrypoint = [], healthcheck }] of Object.entries(services))
      for (const line of [...command, ...entrypoint, ...(healthcheck?.test ?? [])]) {
        // What the shell puts into its own input or environment is no argument.
        const said = line
          .replace(/<<(\w+)\n[^]*\n\1\n/, '')
          .replace(/\bprintf %s "[^"]*"|\b\w+="\$\$\w+" /g, '');
        expect(said, name).not.toMatch(/\$\$\w*PASSWORD/);
      }
  });

  it('pins images, sets limits and health checks for every service, and exposes only the proxy', () => {
    for (const [name, service] of Object.entries(services)) {
      if (service.build === undefined) expect(service.image, name).toMatch(/:\d+\.\d+\.\d+/);
      expect(service.restart, name).toBe('unless-stopped');
      expect([service.mem_limit, service.cpus], name).not.toContain(undefined);
    }
    expect(services['worker']?.healthcheck?.test).toEqual([
      'CMD',
      'node',
      'bin/fanfare.js',
      'worker',
      '--health',
    ]);
    const open = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(open.map(([name]) => name)).toEqual(['proxy']);
  });

  it.each(OURS)(
    'runs the %s without rights, with nothing to write to but its data and temporary files',
    (_, service) => {
      expect(service.read_only).toBe(true);
      expect(service.tmpfs?.map((mount) => mount.split(':')[0])).toEqual(['/tmp', '/data']);
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
    },
  );

  it('uses only variables that .env.example lists', async () => {
    const example = await read('.env.example');
    for (const name of ['JWT_SECRET', 'JWKS_URI', ...Object.keys(PASSWORDS)])
      expect(example).toMatch(new RegExp(`^(?:# )?${name}=`, 'm'));
  });

  it('uses the pinned images of the Dockerfile', async () => {
    const stages = (await read('Dockerfile')).match(/^FROM \S+/gm) ?? [];
    expect(stages).not.toEqual([]);
    for (const stage of stages) expect(stage).toMatch(/:\d+\.\d+\.\d+-/);
  });
});

describe('docker-compose.yml of a generated project', () => {
  it('starts the databases at the addresses it names', async () => {
    const text = await read('templates/project/docker-compose.yml');
    const made = parse(text) as {
      readonly services: Readonly<
        Record<
          string,
          Service & { readonly volumes?: readonly string[]; readonly command?: readonly string[] }
        >
      >;
      readonly volumes: Readonly<Record<string, unknown>>;
    };
    const { mongodb, redis, ...others } = made.services;
    expect(others).toEqual({});
    for (const service of [mongodb, redis]) expect(service?.image).toMatch(/^[\w/]+:\d+\.\d+\.\d+/);
    const named = [...text.matchAll(/(MONGODB_URI|REDIS_URL)='?([^\s']+)/g)].map(
      ([, name = '', value = '']) => [name, value],
    );
    const config = readConfig(
      { JWT_SECRET: 'x'.repeat(32), ...(Object.fromEntries(named) as Record<string, string>) },
      BROUGHT,
    );
    const addressOf = (uri: string | undefined) => new URL(uri ?? '');
    const database = addressOf(config.mongodb.uri);
    expect(mongodb?.ports).toEqual([`${database.host}:27017`]);
    expect(redis?.ports).toEqual([`${addressOf(config.redis.url).host}:6379`]);
    const set = database.searchParams.get('replicaSet') ?? '';
    expect(mongodb?.command).toEqual(['--replSet', set, '--bind_ip_all']);
    // The check makes the replica set, under the address that clients are sent to.
    const check = String(mongodb?.healthcheck?.test);
    expect(check).toContain(`rs.initiate({ _id: '${set}'`);
    expect(check).toContain(`host: '${database.host}'`);
    const [volume = ''] = mongodb?.volumes ?? [];
    expect(Object.keys(made.volumes)).toEqual([volume.split(':')[0]]);
  });
});
