import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { signToken } from '../../src/cli/token.ts';
import type { Role } from '../../src/domain/viewer.ts';
import type { ProbeApi } from '../programs/probe.ts';
import { startChild, type Child } from './child.ts';
import type { Environment } from './environment.ts';

const SECRET = 'a-secret-that-signs-nothing-but-benchmarks-0123456789';
const TOKEN_MS = 24 * 3_600_000;
/** As `npm start` and the image start it. */
const YOUNG_OBJECTS = ['--max-semi-space-size=32'];

/** A checkout has the packages of this one by a link. Without this, the driver of MongoDB would be there twice. */
const LINKED_PACKAGES = ['--preserve-symlinks'];

/** What a process of Fanfare reads from its environment here: production, and the defaults otherwise. */
export function fanfareEnv(
  environment: Pick<Environment, 'mongodbUri' | 'redisUrl' | 'folder'>,
  database: string,
): Readonly<Record<string, string>> {
  return {
    NODE_ENV: 'production',
    MONGODB_URI: environment.mongodbUri,
    REDIS_URL: environment.redisUrl,
    MONGODB_DB: database,
    DATA_DIR: join(environment.folder, 'unused'),
    JWT_SECRET: SECRET,
    PORT: '0',
  };
}

export interface FanfareApi extends Child<ProbeApi> {
  readonly url: string;
  readonly wsUrl: string;
}

export interface FanfareOptions {
  readonly environment: Environment;
  readonly database: string;
  /** A built checkout to run, in place of this one. */
  readonly checkout?: string | undefined;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** `fanfare serve`, without a worker as a rule, ready to answer. */
export async function startApi(options: FanfareOptions, hasWorker = false): Promise<FanfareApi> {
  const child = startFanfare(hasWorker ? ['serve'] : ['serve', '--no-worker'], 'api', options);
  const [, url = ''] = await child.line(/GraphQL +(http:\/\/\S+)\/graphql/);
  return Object.assign(child, { url, wsUrl: `${url.replace(/^http/, 'ws')}/graphql` });
}

/** `fanfare worker`, ready to work. */
export async function startWorker(options: FanfareOptions): Promise<Child<ProbeApi>> {
  const child = startFanfare(['worker'], 'worker', options);
  await child.line(/worker started/);
  return child;
}

function startFanfare(
  args: readonly string[],
  name: string,
  { environment, database, checkout, env }: FanfareOptions,
): Child<ProbeApi> {
  return startChild<ProbeApi>({
    // A checkout of before has it where it was then.
    program:
      checkout !== undefined && existsSync(join(checkout, 'dist/main.js'))
        ? 'dist/main.js'
        : 'dist/src/main.js',
    args,
    checkout,
    env: {
      ...fanfareEnv(environment, database),
      ...(checkout === undefined ? {} : { REDIS_URL: environment.redisPortUrl }),
      ...env,
    },
    nodeArgs: [
      // An older checkout is started as it was then.
      ...(checkout === undefined ? YOUNG_OBJECTS : LINKED_PACKAGES),
      ...(environment.profileDir === null
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${join(environment.profileDir, `${database}-${name}`)}`]),
    ],
  });
}

/** A token the processes here accept. */
export function tokenFor(sub: string, roles: readonly Role[] = ['user']): Promise<string> {
  return signToken({ jwtSecret: SECRET }, { sub, roles, expiresAt: new Date(Date.now() + TOKEN_MS) });
}
