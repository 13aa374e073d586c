import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import type { TestProject, Vitest } from 'vitest/node';
import { startEmbeddedServices } from '../../packages/local-engine/src/services.ts';
import { testCacheDir } from './engine.ts';
import { type SecondOpinion, startSecondOpinion } from './second-opinion.ts';
import { startPermutingServer } from './permuted.ts';
import { randomRuns } from './random-runs.ts';
import { uniqueName } from './unique-name.ts';
import { ranWhole, unusedReasons } from './used-reasons.ts';

const PREFIX = 'fanfare-test-';

/**
 * The seed of the run; one engine and one Redis for the whole run, in a folder that goes with it. Servers given by
 * `FANFARE_TEST_MONGODB_URI` and `FANFARE_TEST_REDIS_URL` are used instead. Unit tests alone need none.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { seed, depth } = randomRuns(process.env);
  project.provide('seed', seed);
  project.provide('depth', depth);
  console.log(`Random suites begin from FANFARE_TEST_SEED=${String(seed)}`);
  if (project.vitest.projects.every(({ name }) => name === 'unit')) return () => Promise.resolve();
  const spare = uniqueName('spare');
  build();
  removeAbandoned();
  const dataDir = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // Not MONGODB_URI: a shell may have it set for a server that holds something.
  const { FANFARE_TEST_MONGODB_URI: mongodbUri, FANFARE_TEST_REDIS_URL: redisUrl, PATH: path } = process.env;
  let notified = '';
  const services = await startEmbeddedServices({
    ...(mongodbUri === undefined ? {} : { mongodbUri }),
    ...(redisUrl === undefined ? {} : { redisUrl }),
    ...(path === undefined ? {} : { path }),
    dataDir,
    cacheDir: testCacheDir(),
    durability: 'fast',
    onEvent: ({ step, message }) => {
      if (message !== notified && step !== 'ready') console.log(`${step}: ${message}`);
      notified = message;
    },
  });
  project.provide('mongodbUri', services.mongodbUri);
  project.provide('redisUrl', services.redisUrl);
  const permuting = await startPermutingServer(services.mongodbUri);
  project.vitest.projects.find(({ name }) => name === 'permuted')?.provide('mongodbUri', permuting.uri);
  project.provide('spareDatabases', spare);
  const opinion = await startSecondOpinion(services.mongodbUri);
  project.vitest.projects.find(({ name }) => name === 'compared')?.provide('mongodbUri', opinion.uri);
  const usedReasons = join(dataDir, 'used-reasons');
  project.provide('usedReasons', usedReasons);
  return async () => {
    const unused = (await ranWhole(project.vitest)) ? unusedReasons(usedReasons) : [];
    if (unused.length > 0) {
      console.error(
        `Nothing asks all shards for these reasons of test/support/scattered.ts:\n${unused.join('\n')}`,
      );
      process.exitCode = 1;
    }
    if (mongodbUri !== undefined) {
      reportOwnEngines(project.vitest);
      await dropSpareDatabases(mongodbUri, spare);
    }
    reportDifferences(opinion);
    await opinion[Symbol.asyncDispose]();
    await permuting[Symbol.asyncDispose]();
    await services[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

function reportDifferences({ compared, differences }: SecondOpinion): void {
  if (compared.size > 0)
    console.log(`${String(compared.size)} kinds of commands were also answered by mingo`);
  if (differences.length === 0) return;
  console.error(
    'mingo answers otherwise. Use a form on which all agree, or see test/support/second-opinion.ts:',
  );
  for (const difference of differences) console.error(JSON.stringify(difference, null, 2));
  process.exitCode = 1;
}

/** How test files get an engine of their own, which they kill, fill, suspend or look into. */
const OWN_ENGINE =
  /startEmbeddedServices|support\/local-engine\.ts|\.\/chaos\/|own-engine\.ts|fixtures\/owner\.ts/;

/** Names what has not tested the given server. */
function reportOwnEngines({ state, config }: Vitest): void {
  const files = state
    .getTestModules()
    .filter(({ moduleId }) => OWN_ENGINE.test(readFileSync(moduleId, 'utf8')))
    .map(({ moduleId, children }) => ({
      name: relative(config.root, moduleId),
      tests: [...children.allTests()].filter((test) => test.result().state !== 'skipped').length,
    }));
  if (files.length === 0) return;
  const tests = files.reduce((all, file) => all + file.tests, 0);
  console.log(`${String(tests)} tests ran on engines of their own, not on FANFARE_TEST_MONGODB_URI:`);
  for (const file of files) console.log(`  ${file.name}: ${String(file.tests)}`);
}

/** Command lines run what is built. Does nothing where that is up to date. */
function build(): void {
  const { status } = spawnSync(process.execPath, ['scripts/build.js', '--fast'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The build failed');
}

/** Of an engine that goes on after this run. */
async function dropSpareDatabases(uri: string, prefix: string): Promise<void> {
  const client = await MongoClient.connect(uri);
  try {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(`${prefix}_`)) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}

/** A run that was killed leaves its folder behind (its processes end on their own). */
function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1] ?? 0);
    if (pid > 0 && !isRunning(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
