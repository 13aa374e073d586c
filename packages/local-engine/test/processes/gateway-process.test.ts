import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freshSocket } from '../integration/gateway/own-engine.ts';
import { message, rawClient } from '../integration/gateway/raw-client.ts';

const main = fileURLToPath(new URL('../../src/gateway/main.ts', import.meta.url));
/** The database is never reached in these tests. */
const options = {
  postgres: { host: '/nowhere', port: 1, user: 'postgres', database: 'postgres' },
  socket: freshSocket(),
  poolSize: 1,
};

function run(argument: string): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', main, argument], { stdio: ['pipe', 'pipe', 'pipe'] });
}

async function started(): Promise<ChildProcess> {
  const child = run(JSON.stringify(options));
  if (child.stdout === null) throw new Error('No output');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  expect(JSON.parse(line)).toEqual({ listening: options.socket });
  return child;
}

test('reports in one line that it listens, and exits with 0 when its input ends', async () => {
  const child = await started();
  using client = await rawClient(options.socket);
  client.send(message({ ping: 1, $db: 'admin' }));
  expect((await client.reply()).body).toEqual({ ok: 1 });
  child.stdin?.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('exits with 0 on SIGTERM', async () => {
  const child = await started();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('ignores SIGINT, which its owner also receives', async () => {
  const child = await started();
  child.kill('SIGINT');
  using client = await rawClient(options.socket);
  client.send(message({ ping: 1, $db: 'admin' }));
  expect((await client.reply()).body).toEqual({ ok: 1 });
  child.stdin?.end();
  await once(child, 'exit');
});

test.for(['', 'no json', '{}', JSON.stringify({ ...options, poolSize: 0 })])(
  'rejects the options "%s"',
  async (argument) => {
    const child = run(argument);
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).not.toBe(0);
  },
);
