import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { changeIn, FILES, release } from '../../scripts/version.js';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const files = Object.fromEntries(FILES.map((path) => [path, readFileSync(cwd + path, 'utf8')]));
const { version: current } = JSON.parse(files['package.json'] ?? '') as { readonly version: string };
/** As after a release of the current version. */
const released = release(files, [], '2026-01-02').files;
const change = (kind: string, text: string) => changeIn(`---\n'@fanfare/client': ${kind}\n---\n\n${text}\n`);

test.each([
  ['0.1.0', 'patch', '0.1.1'],
  ['0.1.0', 'minor', '0.1.1'],
  ['0.1.0', 'major', '0.2.0'],
  ['1.2.3', 'patch', '1.2.4'],
  ['1.2.3', 'minor', '1.3.0'],
  ['1.2.3', 'major', '2.0.0'],
])('the release after %s with a %s change is %s', (version, kind, next) => {
  const before = { 'package.json': JSON.stringify({ version }), 'CHANGELOG.md': '# Changelog\n' };
  expect(release(before, [change('patch', 'One'), change(kind, 'Other')], '2026-01-02').version).toBe(next);
});

test('a release raises the version of all packages and of what they need of each other, and of nothing else', () => {
  const { version, files: after } = release(released, [change('major', 'It breaks.')], '2026-02-03');
  expect(Object.keys(after)).toEqual([...FILES]);
  for (const path of FILES.filter((file) => file !== 'CHANGELOG.md')) {
    const lines = (released[path] ?? '').split('\n');
    const ours = /"@fanfare\/|Fanfare |newTag|^ {2,6}"version"/;
    const isOurs = (line: string, index: number) =>
      ours.test(line) && lines[index - 1]?.includes('node_modules') !== true;
    const wanted = lines.map((line, index) => (isOurs(line, index) ? line.replace(current, version) : line));
    const changed = (after[path] ?? '').split('\n').filter((line, index) => line !== lines[index]);
    expect(changed.length, path).toBeGreaterThan(0);
    expect(
      changed.filter((line) => !wanted.includes(line)),
      path,
    ).toEqual([]);
  }
});

test('no other file names the version', () => {
  const found = execFileSync(
    'git',
    ['grep', '-lF', current, '--', ':!bench/peer/package-lock.json', ':!test'],
    {
      cwd,
      encoding: 'utf8',
    },
  );
  expect(
    found
      .trim()
      .split('\n')
      .filter((path) => !FILES.includes(path)),
  ).toEqual([]);
});

test('the changelog has a section for the release, with what breaks first', () => {
  const changes = [change('patch', 'A fault is mended.\n\nIt was old.'), change('major', 'It breaks.')];
  const { version, files: after } = release(released, changes, '2026-02-03');
  expect(after['CHANGELOG.md']).toContain(
    `\n## ${version} – 2026-02-03\n\n### Breaking\n\n- It breaks.\n\n### Fixed\n\n- A fault is mended.\n  \n  It was old.\n\n## ${current} – 2026-01-02\n`,
  );
  expect(() => release(released, [], '2026-02-03')).toThrow(`Nothing has changed since ${current}`);
});

test('a change of another form is refused', () => {
  expect(() => changeIn('It is better.')).toThrow('Not a change');
  expect(() => change('huge', 'It is better.')).toThrow('Not a change');
  expect(() => change('minor', '')).toThrow('Not a change');
});
