import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { DONE_WORD_FOR_WORD } from '../support/command-answers.ts';
import { PROJECT } from '../support/project-copy.ts';

test('packages are published to a registry, and from there all that the pages for newcomers say works word for word', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/release-dry.js'], {
    cwd: PROJECT,
    // What it runs is no test.
    env: { ...process.env, NODE_ENV: '', VITEST: '' },
    maxBuffer: 1e8,
  });
  const commands = [...stdout.matchAll(/^ +[\d.]+ s {2}(.+)$/gm)].map(([, command = '']) => command);
  expect(DONE_WORD_FOR_WORD.filter((command) => !commands.includes(command))).toEqual([]);
  // It installs a dozen projects, one after the other: minutes on an idle machine.
}, 1_800_000);
