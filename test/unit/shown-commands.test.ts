import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shownCommands } from '../../scripts/shown-commands.js';
import { ANSWERS } from '../support/command-answers.ts';
import { PROJECT } from '../support/project-copy.ts';

/** What was, and what a program writes about its last run. */
const NOT_FOR_READERS = new Set(['CHANGELOG.md', 'bench/RESULTS.md']);

const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: PROJECT, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => !NOT_FOR_READERS.has(path) && existsSync(join(PROJECT, path)));
const shown = new Set(pages.flatMap((path) => shownCommands(readFileSync(join(PROJECT, path), 'utf8'))));
const answered = ANSWERS.flatMap(({ commands }) => commands);
const answers = (answer: string, command: string): boolean =>
  answer === command || (answer.endsWith(' …') && command.startsWith(answer.slice(0, -1)));

test('every command that a page shows is run by something, or it says why it cannot be', () => {
  expect([...shown].filter((command) => !answered.some((answer) => answers(answer, command))).sort()).toEqual(
    [],
  );
});

test('no answer is left over or given twice', () => {
  expect(
    answered.filter(
      (command, index) =>
        ![...shown].some((one) => answers(command, one)) || answered.indexOf(command) !== index,
    ),
  ).toEqual([]);
});

/** What a file that runs it has to name: the command of the server, or the script. */
function namedBy(command: string): string | undefined {
  const [, word] =
    /^(?:[A-Z_]+=\S+ )*(?:npx )?(?:@fanfare\/server|fanfare) (\w+)|^npm run (\S+)/
      .exec(command)
      ?.filter(Boolean) ?? [];
  return word;
}

test('what is said to run a command exists and names it', () => {
  for (const { by, because, commands } of ANSWERS) {
    expect([by, because].filter((one) => one !== undefined)).toHaveLength(1);
    if (by === undefined || by.endsWith('release.test.ts')) continue;
    const text = readFileSync(join(PROJECT, by), 'utf8');
    const missing = commands.filter((command) => !text.includes(namedBy(command) ?? ''));
    expect([by, missing]).toEqual([by, []]);
  }
});

test('commands are found in blocks and in sentences', () => {
  const page =
    'Run `npx fanfare serve` or `fanfare`:\n\n```sh\nnpm ci   # builds, too\n# Then\ncurl -s x \\\n  -d y\n```\n\n```ts\nnpm no\n```\n';
  expect(shownCommands(page)).toEqual(['npm ci', 'curl -s x -d y', 'npx fanfare serve']);
});
