import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
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

/** Its path for a set of lines in the folder of the run. */
export const pathOf = ({ folder }: Environment, name: string): string => join(folder, `${name}.ndjson`);
