import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/project-copy.ts';

test('packages are published to a registry, and from there all that the pages for newcomers say works word for word', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/release-dry.js'], {
    cwd: PROJECT,
    // What it runs is no test.
    env: { ...process.env, NODE_ENV: '', VITEST: '' },
    maxBuffer: 1e8,
  });
  const commands = [...stdout.matchAll(/^ +[\d.]+ s {2}(.+)$/gm)].map(([, command = '']) => command);
  expect(commands).toContain('npx @fanfare/server serve');
});
