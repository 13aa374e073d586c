import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/project-copy.ts';

test('npm run registry has all packages, with the line for .npmrc, until it is stopped', async () => {
  const child = spawn(process.execPath, ['scripts/serve-registry.js'], {
    cwd: PROJECT,
    env: { ...process.env, PORT: '0', NODE_ENV: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let url: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    url = /echo "@fanfare:registry=(\S+)" >> \.npmrc/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  const { version } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as {
    version: string;
  };
  for (const name of ['server', 'local-engine', 'client', 'react', 'elements', 'apollo', 'urql']) {
    const found = (await (await fetch(`${url ?? ''}/@fanfare%2f${name}`)).json()) as { versions: object };
    expect(Object.keys(found.versions), name).toEqual([version]);
  }
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  await expect(fetch(url ?? '')).rejects.toThrow('fetch failed');
});
