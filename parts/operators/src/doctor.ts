import type { CommandContext, Composed, Examination } from '../../../src/app/command-shapes.ts';
import { missingIndexes, type IndexDefinition } from '../../../src/storage/indexes/indexes.ts';
import { latestVersion, MIGRATIONS } from '../../../src/storage/migrations/migration.ts';
import type { Database, Finding } from '../../../src/storage/database/mongo.ts';
import { schemaVersionRepository } from '../../../src/storage/database/schema-version.ts';
import { openRedisParts } from '../../../src/connections/redis-parts.ts';
import type { Config } from '../../../src/config/config.ts';
import { doubtsOf } from '../../../src/config/doubts.ts';
import { redact } from '../../../src/lib/redact.ts';
import { configOf, CommandError, findServer } from '../../../src/cli/context.ts';
import { embeddedSteps } from '../../../src/cli/embedded-steps.ts';
import { endOnSignals } from '../../../src/cli/shutdown.ts';
import { keptSecret, keptSecretPath } from '../../../src/cli/kept-secret.ts';
import { packageVersion } from '../../../src/lib/package-info.ts';
import { reasonFor } from '../../../src/cli/report-failure.ts';
import { describeDatabases, startDatabases } from '../../../src/connections/databases.ts';
import type { Environment } from '../../../src/config/env.ts';
import { allSettings } from '../../../src/config/part-settings.ts';
import type { Brought } from '../../../src/config/read-config.ts';
import type { Setting } from '../../../src/config/settings.ts';

const READY_WITHIN_MS = 10_000;

export interface DoctorOptions {
  readonly settings?: boolean;
  readonly markdown?: boolean;
}

/** Shows the configuration and checks whether it works. @returns the exit code: 1 if something does not. */
export async function doctor(
  context: CommandContext,
  options: DoctorOptions,
  examinations: readonly Examination[],
): Promise<number> {
  const { brought, env, terminal } = context;
  if (options.markdown === true && options.settings !== true)
    throw new CommandError('--markdown requires --settings');
  if (options.settings === true) {
    for (const line of options.markdown === true ? settingsMarkdown(brought) : settingsTable(brought, env))
      terminal.out(line);
    return 0;
  }
  // Local databases started by this command end with it.
  endOnSignals(terminal, { farewell: () => 'Interrupted. Nothing was changed: doctor only reads.' });
  let isWell = true;
  for await (const { state, what, detail } of examine(context, examinations)) {
    isWell &&= state !== 'FAIL';
    terminal.out(
      `${state.padEnd(5)} ${what.padEnd(10)} ${redact(detail).replaceAll('\n', `\n${' '.repeat(17)}`)}`,
    );
  }
  return isWell ? 0 : 1;
}

async function* examine(
  context: CommandContext,
  examinations: readonly Examination[],
): AsyncGenerator<Finding> {
  yield ok('Fanfare', `${await packageVersion()} on Node ${process.version}`);
  const given = givenSettings(context.brought, context.env);
  const settings = given.length === 0 ? 'All defaults; doctor --settings lists them' : given.join('\n');
  const config = await attempt('Settings', () => Promise.resolve(configOf(context)));
  if ('state' in config) {
    yield config;
    return;
  }
  yield ok('Settings', settings);
  for (const { name, message } of doubtsOf(context.env, config, true))
    yield note('Settings', `${name} ${message}`);
  yield await identityOf(config);
  yield* examineDatabases(context, config, examinations);
}

const ok = (what: string, detail: string): Finding => ({ state: 'ok', what, detail });
const note = (what: string, detail: string): Finding => ({ state: 'note', what, detail });
const failed = (what: string, detail: string): Finding => ({ state: 'FAIL', what, detail });

async function identityOf({ auth, dataDir }: Config): Promise<Finding> {
  const keys = [
    ...(auth.jwtSecret === undefined ? [] : ['HS256 tokens with JWT_SECRET']),
    ...(auth.jwksUri === undefined ? [] : [`tokens signed by the keys of ${auth.jwksUri}`]),
  ];
  if (keys.length > 0) return ok('Identity', keys.join('; '));
  const path = keptSecretPath(dataDir);
  const secret = await attempt('Identity', async () => ({ isThere: (await keptSecret(dataDir)) !== null }));
  if ('state' in secret) return secret;
  return note(
    'Identity',
    secret.isThere
      ? `JWT_SECRET is not set: using the secret stored in ${path}`
      : `JWT_SECRET is not set: the first start of a server stores a generated one in ${path}`,
  );
}

async function* examineDatabases(
  context: CommandContext,
  config: Config,
  examinations: readonly Examination[],
): AsyncGenerator<Finding> {
  using steps = embeddedSteps(context.terminal, null);
  const services = await attempt('Databases', () => startDatabases(context, config, steps));
  if ('state' in services) {
    yield services;
    return;
  }
  await using databases = services;
  yield ok('Databases', describeDatabases(databases, config));
  yield* examineServer(config);
  yield* examineMongo(await context.composed(), databases.mongodbUri, config, examinations);
  yield await examineRedis({ ...config.redis, url: databases.redisUrl });
}

/** The server running on the same DATA_DIR, if any. */
async function* examineServer({ dataDir }: Config): AsyncGenerator<Finding> {
  const server = await findServer(dataDir);
  if (server === null) return;
  const answer = await fetch(`${server.url}/ready`, { signal: AbortSignal.timeout(READY_WITHIN_MS) })
    .then(({ status, ok }) => (ok ? 'is ready' : `says it is not ready (${String(status)})`))
    .catch((error: unknown) => `does not answer: ${reasonFor(error)}`);
  const detail = `process ${String(server.process.pid)} at ${server.url} ${answer}`;
  yield { state: answer === 'is ready' ? 'ok' : 'FAIL', what: 'Server', detail };
}

async function* examineMongo(
  { connectDatabase, allIndexes }: Composed,
  uri: string,
  { mongodb: { db }, auth }: Config,
  examinations: readonly Examination[],
): AsyncGenerator<Finding> {
  const connected = await attempt('MongoDB', () => connectDatabase({ uri, db }));
  if ('state' in connected) {
    yield connected;
    return;
  }
  await using database = connected;
  yield ok('MongoDB', `${await database.version()} answers at ${uri}, database ${db}`);
  const hasTenants = auth.tenantClaim !== undefined;
  yield await examineIndexes(database, allIndexes({ hasTenants }));
  yield await examineSchema(database, hasTenants);
  for (const examinePart of examinations) yield* examinePart(database);
}

async function examineIndexes({ db }: Database, all: readonly IndexDefinition[]): Promise<Finding> {
  const missing = await missingIndexes(db, all);
  const present = `${String(all.length - missing.length)} of ${String(all.length)}`;
  if (missing.length === 0) return ok('Indexes', `${present} present`);
  if (missing.length === all.length)
    return note('Indexes', `${present} present; the first start of a server creates them`);
  const names = missing.map(({ collection, name }) => `${collection}.${name}`).join(', ');
  return failed('Indexes', `${present} present, missing: ${names}\nThe next start of a server creates them`);
}

async function examineSchema({ collections }: Database, hasTenants: boolean): Promise<Finding> {
  const what = 'Schema';
  const known = latestVersion(MIGRATIONS);
  const schema = schemaVersionRepository(collections);
  const state = await schema.state();
  if (state === null) return note(what, 'no version yet; the first start of a server records it');
  const { version, required, migration, adopting } = state;
  if (adopting !== null)
    return failed(
      what,
      `the database is being adopted into the tenant ${adopting}: fanfare tenant adopt ${adopting} continues`,
    );
  const detail = `version ${String(version)} of ${String(known)}`;
  if (required > known) return failed(what, `${detail}: written by a newer release, run that one`);
  const fault = await schema.tenancyFault(state, hasTenants);
  if (fault !== null) return failed(what, fault);
  if (version === known) return ok(what, detail);
  if (migration === null) return note(what, `${detail}; the next worker starts the migration`);
  const progress = `${detail}; migration to ${String(migration.to)}: ${String(migration.progress?.looked ?? 0)} documents done`;
  return migration.error === undefined
    ? note(what, progress)
    : failed(what, `${progress}, last attempt: ${migration.error}`);
}

async function examineRedis({ url = '', sentinel }: Config['redis']): Promise<Finding> {
  const connected = await attempt('Redis', () => openRedisParts({ url, sentinel, prefix: '' }));
  if ('state' in connected) return connected;
  await using redis = connected;
  const [first] = redis.parts;
  const info = await first.commands.info('server');
  const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[0].replace('_version:', ' ') ?? 'Redis';
  return ok('Redis', `${version} answers at ${url}`);
}

/** The result, or a finding for the failure. */
async function attempt<T extends object>(what: string, work: () => Promise<T>): Promise<T | Finding> {
  try {
    return await work();
  } catch (error) {
    return failed(what, reasonFor(error));
  }
}

/** Settings given by the environment, as `NAME=value`, without secrets. */
export function givenSettings({ settings }: Brought, env: Environment): string[] {
  return allSettings(settings).flatMap(([name, setting]) => {
    const value = env[name];
    return value === undefined || value === '' ? [] : [`${name}=${shown(setting, value)}`];
  });
}

/** All settings for people: variable, value if given, default and meaning. */
export function settingsTable({ settings }: Brought, env: Environment): string[] {
  const entries = allSettings(settings);
  const nameWidth = Math.max(...entries.map(([name]) => name.length));
  const defaultWidth = Math.max(...entries.map(([, setting]) => setting.shownDefault.length));
  const lines: string[] = [];
  let group = '';
  for (const [name, setting] of entries) {
    if (setting.group !== group) lines.push(...(group === '' ? [] : ['']), setting.group);
    group = setting.group;
    lines.push(
      `  ${name.padEnd(nameWidth)}  ${setting.shownDefault.padEnd(defaultWidth)}  ${setting.meaning}`.trimEnd(),
    );
    const value = env[name];
    if (value !== undefined && value !== '')
      lines.push(`  ${' '.repeat(nameWidth)}  is ${shown(setting, value)}`);
  }
  return lines;
}

/** The same as Markdown, one table per group, without values. */
export function settingsMarkdown({ settings }: Brought): string[] {
  const entries = allSettings(settings);
  const groups = [...new Set(entries.map(([, setting]) => setting.group))];
  return groups.flatMap((group) => [
    `## ${group}`,
    '',
    '| variable | default | meaning |',
    '| --- | --- | --- |',
    ...entries
      .filter(([, setting]) => setting.group === group)
      .map(
        ([name, { shownDefault, meaning }]) =>
          `| \`${name}\` | ${shownDefault} | ${meaning.replaceAll('|', '\\|')} |`,
      ),
    '',
  ]);
}

function shown(setting: Setting, value: string): string {
  return setting.isSecret ? '(secret, not shown)' : redact(value);
}
