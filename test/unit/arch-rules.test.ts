import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/project-copy.ts';

interface Side {
  readonly path?: string | readonly string[];
  readonly pathNot?: string | readonly string[];
}

interface Rule {
  readonly name: string;
  readonly from: Side;
  readonly to: Side;
}

const { forbidden } = createRequire(import.meta.url)(join(PROJECT, '.dependency-cruiser.cjs')) as {
  readonly forbidden: readonly Rule[];
};

/** What git knows, and the folders of installed packages. */
const FILES = execFileSync('git', ['ls-files'], { cwd: PROJECT, encoding: 'utf8', maxBuffer: 1e8 })
  .trimEnd()
  .split('\n');

/** A feature has places for all kinds of files, so only the whole pattern of a layer counts. */
const isOfLayer = (pattern: string): boolean => pattern.startsWith('^(?:src/(?:features/');

/** The patterns that one stands for: one for each branch of its innermost groups, until there are none. */
function branches(pattern: string): string[] {
  const group = /\(\?:([^()]+)\)(?!\?)/.exec(pattern);
  if (group?.[1] === undefined) return [pattern];
  const [found, inner] = group;
  return inner
    .split('|')
    .flatMap((branch) =>
      branches(pattern.slice(0, group.index) + branch + pattern.slice(group.index + found.length)),
    );
}

function isUsed(pattern: string): boolean {
  const name = /^\^node_modules\/(?:\(\?:@types\/\)\?)?([^$[\]()\\]+)\/$/.exec(pattern)?.[1];
  if (name !== undefined)
    return (
      existsSync(join(PROJECT, 'node_modules', name)) ||
      existsSync(join(PROJECT, 'node_modules/@types', name))
    );
  return FILES.some((file) => new RegExp(pattern).test(file));
}

/** Matches on purpose what no file has: nothing, built-in modules, the name of a package, and what the rule's other side found. */
const IS_OF_NO_FILE =
  /^\^\$$|^\^\(?(?:\?:)?(?:node:|child_process|crypto|events|fs\/|http\$|net\$|util|timers|path|stream|cluster|inspector|os|zlib)|node_modules\/.*\[|\$1/;

test('every pattern of a rule matches a file: one that does not holds nothing back', () => {
  const unused = forbidden.flatMap(({ name, from, to }) =>
    [from.path, from.pathNot, to.path, to.pathNot]
      .flat()
      .filter((pattern) => pattern !== undefined)
      .flatMap((pattern) => (isOfLayer(pattern) ? [pattern] : branches(pattern)))
      .filter((pattern) => !IS_OF_NO_FILE.test(pattern) && !isUsed(pattern))
      .map((pattern) => `${name}: ${pattern}`),
  );
  expect([...new Set(unused)]).toEqual([]);
});
