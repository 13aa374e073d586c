import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { BROUGHT } from '../../src/app/brought.ts';
import { allSettings } from '../../src/config/part-settings.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Every file of the source by its path in the project, and what is in it. */
const SOURCES = sourcesIn('src');

function sourcesIn(folder: string): Map<string, string> {
  return new Map(
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [`${folder}/${file}`, readFileSync(join(PROJECT, folder, file), 'utf8')]),
  );
}

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

test('every background job is declared in one file and listed with its feature', () => {
  const declared = [...SOURCES].flatMap(([file, text]) =>
    /^export function \w+\([^)]*: JobSetup\): (?:readonly )?Job\b/m.test(text) ? [file] : [],
  );
  expect(declared.length).toBeGreaterThan(3);
  expect(declared.map((file) => [file, usersOf(file)])).toEqual(
    declared.map((file) => [file, ['src/app/features.ts']]),
  );
});

/** It says how the start failed, when there may be no configuration. */
const BEFORE_THE_CONFIGURATION = ['src/cli/report-failure.ts'];

/** Of the core, and of a part. */
const IS_CONFIGURATION = /^src\/config\/|^parts\/[^/]+\/src\/settings\.ts$/;

test('every setting is read only by the configuration', () => {
  const sources = [...SOURCES, ...sourcesIn('parts')].filter(([file]) => !file.includes('/test/'));
  for (const [name, { as }] of allSettings(BROUGHT.settings)) {
    const read = new RegExp(String.raw`(?:\.|\[['"])${name}\b`);
    const taken = new RegExp(String.raw`[{,]\s*${name}: (?!setting|optional)\w`);
    const readers = sources.flatMap(([file, text]) => (read.test(text) ? [file] : []));
    const elsewhere = readers.filter((file) => !IS_CONFIGURATION.test(file));
    const isTaken = sources.some(([file, text]) => IS_CONFIGURATION.test(file) && taken.test(text));
    // Taken over as it is, or put together with others.
    expect([name, readers.length > 0 || isTaken || as !== undefined]).toEqual([name, true]);
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
