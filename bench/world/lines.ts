import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Redis } from 'ioredis';
import { PROJECT } from '../harness/child.ts';
import type { Environment } from '../harness/environment.ts';
import { fanfareEnv } from '../harness/fanfare.ts';
import { ratingInput } from './actions.ts';

/** Lines of actions that are in no other set of this name. */
export function* ratingLines(name: string, count: number): Generator<string> {
  for (let n = 0; n < count; n++)
    yield `${JSON.stringify({ idempotencyKey: `${name}-${String(n)}`, ...ratingInput(n, []) })}\n`;
}

export async function fileOf(path: string, lines: Iterable<string>): Promise<string> {
  await pipeline(Readable.from(lines), createWriteStream(path));
  return path;
}

/** Sends a body to /ingest as fast as it is taken. Returns the number of lines that were recorded. */
export async function sendBody(url: string, token: string, body: Iterable<string>): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const sent = request(`${url}/ingest`, { method: 'POST', headers, agent: false });
  const answered = once(sent, 'response') as Promise<[Readable]>;
  const sending = pipeline(Readable.from(body), sent);
  const [response] = await answered;
  let [recorded, rest] = [0, ''];
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      if (line.includes('"id"')) recorded += 1;
      else throw new Error(`Not recorded: ${line}`);
  }
  await sending;
  return recorded;
}

/** A command of the build. */
export function startCommand(
  args: readonly string[],
  environment: Environment,
  database: string,
): ChildProcess {
  return spawn(process.execPath, ['dist/src/main.js', ...args], {
    cwd: PROJECT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...fanfareEnv(environment, database) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export async function runImport(path: string, environment: Environment, database: string): Promise<void> {
  const child = startCommand(['import', '--actions', path, '--no-worker'], environment, database);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The import ended with ${String(code)}`);
}

/** The address of a stream of the run's own Redis. */
export function streamAt(redisUrl: string, stream: string): string {
  return redisUrl.replace(/^(rediss?:\/\/[^/?]+)\/?/, `$1/${stream}`);
}

const GROUP = 'fanfare';
/** One of them starts, the others work. */
const PROCESSES = 4;
const CHUNK = 1_000;

export async function fillStream(redis: Redis, stream: string, lines: Iterable<string>): Promise<void> {
  let pipelined = redis.pipeline();
  for (const line of lines) {
    pipelined.xadd(stream, '*', 'line', line);
    if (pipelined.length < CHUNK) continue;
    await pipelined.exec();
    pipelined = redis.pipeline();
  }
  await pipelined.exec();
}

/** Consumes what is on a stream, by processes of which one is killed in turn. Returns how many were killed. */
export async function consumeAll(
  { environment, database }: { readonly environment: Environment; readonly database: string },
  stream: string,
  killEveryMs: number | null,
): Promise<number> {
  const url = streamAt(environment.redisUrl, stream);
  const start = () => startCommand(['consume', url, '--no-worker'], environment, database);
  const processes = Array.from({ length: PROCESSES }, start);
  let kills = 0;
  let killed = { at: Date.now(), open: Infinity };
  for (;;) {
    const open = await openIn(environment.redis, stream);
    if (open === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
    // Were those killed that have done nothing yet, a busy machine would never come to an end.
    if (killEveryMs === null || Date.now() - killed.at < killEveryMs || open >= killed.open) continue;
    killed = { at: Date.now(), open };
    processes[kills % PROCESSES]?.kill('SIGKILL');
    processes[kills % PROCESSES] = start();
    kills += 1;
  }
  const ends = processes.map(async (child) => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await Promise.all(ends);
  return kills;
}

/** Messages that are not acknowledged, or were not read. */
async function openIn(redis: Redis, stream: string): Promise<number> {
  const groups = (await redis.call('XINFO', 'GROUPS', stream)) as readonly (readonly unknown[])[];
  const values = (fields: readonly unknown[]) =>
    new Map(fields.flatMap((name, n) => (n % 2 === 0 ? [[String(name), fields[n + 1]] as const] : [])));
  const own = groups.map(values).find((fields) => fields.get('name') === GROUP);
  return own === undefined ? Infinity : Number(own.get('pending')) + Number(own.get('lag'));
}

/** Its path for a set of lines in the folder of the run. */
export const pathOf = ({ folder }: Environment, name: string): string => join(folder, `${name}.ndjson`);
