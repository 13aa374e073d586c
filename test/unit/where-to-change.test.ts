import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Every file of the source by its path in the project, and what is in it. */
const SOURCES = new Map(
  readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [`src/${file}`, readFileSync(join(PROJECT, 'src', file), 'utf8')]),
);

/** The files outside a folder that import what is in it, other than types alone. */
function usersOf(folder: string): string[] {
  return [...SOURCES].flatMap(([file, text]) => {
    if (file.startsWith(folder)) return [];
    const imported = [...text.matchAll(/^import (?!type ).*?from '(\.[^']+)';$/gms)].map(([, path = '']) =>
      normalize(join(dirname(file), path)),
    );
    return imported.some((path) => path.startsWith(folder)) ? [file] : [];
  });
}

/** Files of the workers that declare a class, but for the one that all of them extend. */
const WORKERS = [...SOURCES.keys()].filter(
  (file) =>
    file.startsWith('src/workers/') && /-(?:worker|mover)\.ts$/.test(file) && dirname(file) !== 'src/workers',
);

test('every background worker is a BackgroundWorker with a file named after it', () => {
  const named = /^export class (\w*(?:Worker|Mover))\b(?: extends (\w+))?/gm;
  const found = [...SOURCES].flatMap(([file, text]) =>
    file.startsWith('src/workers/') ? [...text.matchAll(named)].map(([, , base]) => ({ file, base })) : [],
  );
  expect(found).toEqual(WORKERS.map((file) => ({ file, base: 'BackgroundWorker' })));
});

test.each(WORKERS)('the worker %s has its own folder and is started in one place', (file) => {
  const [, , folder = '', ...rest] = file.split('/');
  expect([folder, rest.length]).toEqual([expect.any(String), 1]);
  const starters = usersOf(file).filter((user) => !user.startsWith(dirname(file)));
  expect(starters).toEqual([expect.stringMatching(/^src\/app\/[\w-]*workers\.ts$/)]);
});

/** It says how the start failed, when there may be no configuration. */
const BEFORE_THE_CONFIGURATION = ['src/cli/report-failure.ts'];

test('every setting is read only by the configuration', () => {
  for (const name of Object.keys(SETTINGS)) {
    const read = new RegExp(String.raw`(?:\.|\[['"])${name}\b`);
    const readers = [...SOURCES].flatMap(([file, text]) => (read.test(text) ? [file] : []));
    const elsewhere = readers.filter((file) => !file.startsWith('src/config/'));
    expect([name, readers.length > 0]).toEqual([name, true]);
    expect([name, elsewhere.filter((file) => !BEFORE_THE_CONFIGURATION.includes(file))]).toEqual([name, []]);
  }
});

test('every path in docs/where-to-change.md exists', () => {
  const table = readFileSync(join(PROJECT, 'docs/where-to-change.md'), 'utf8');
  const top = readdirSync(PROJECT, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`${entry.name}/`] : [],
  );
  // What is not a place in the project is one within what was named before it.
  const named = [...table.matchAll(/`([\w./-]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => top.some((folder) => path.startsWith(folder)));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
});
