import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { debianMirrors } from '../../src/tree/apt-sources.ts';

/** What is found in an apt configuration of these files, each as its text for another suite. */
function mirrorsOf(files: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'fanfare-apt-'));
  try {
    mkdirSync(join(folder, 'sources.list.d'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return debianMirrors(folder).map((mirror) => mirror.text('other'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('reads the one-line style and keeps its options', () => {
  const list = [
    '# deb http://mirror.test/commented bookworm main',
    'deb-src http://mirror.test/debian bookworm main',
    'deb [arch=amd64 signed-by=/usr/share/keyrings/d.gpg] http://mirror.test/debian bookworm main contrib # ours',
    'deb http://mirror.test/debian-security bookworm-security main',
  ].join('\n');
  expect(mirrorsOf({ 'sources.list': list })).toEqual([
    'deb [arch=amd64 signed-by=/usr/share/keyrings/d.gpg] http://mirror.test/debian other main\n',
  ]);
});

test('reads the stanza style, with keys inside, comments and several addresses', () => {
  const stanzas = [
    'Types: deb deb-src',
    '# a comment',
    'URIs: http://one.test/debian https://two.test/debian',
    'Suites: trixie trixie-updates',
    'Components: main non-free',
    'Signed-By:',
    ' -----BEGIN PGP PUBLIC KEY BLOCK-----',
    ' .',
    ' abc',
    '',
    'Types: deb',
    'URIs: http://one.test/debian-security',
    'Suites: trixie-security',
    'Components: main',
    '',
  ].join('\n');
  const expected = (uri: string) =>
    [
      'types: deb',
      `uris: ${uri}`,
      'suites: other',
      'components: main',
      'signed-by: ',
      ' -----BEGIN PGP PUBLIC KEY BLOCK-----',
      ' .',
      ' abc',
      '',
    ].join('\n');
  expect(mirrorsOf({ 'sources.list.d/debian.sources': stanzas })).toEqual([
    expected('http://one.test/debian'),
    expected('https://two.test/debian'),
  ]);
});

test('skips entries that are disabled, of another distribution, without main, or in a file that apt ignores', () => {
  const disabled = 'Types: deb\nURIs: http://a.test/debian\nSuites: trixie\nComponents: main\nEnabled: no\n';
  expect(
    mirrorsOf({
      'sources.list': 'deb http://b.test/ubuntu noble main\ndeb http://c.test/debian trixie contrib\n',
      'sources.list.d/a.sources': disabled,
      'sources.list.d/d.list.save': 'deb http://d.test/debian trixie main\n',
    }),
  ).toEqual([]);
});

test('puts an archive named debian before others with the same suite names', () => {
  expect(
    mirrorsOf({
      'sources.list':
        'deb http://tools.test/packages trixie main\ndeb http://mirror.test/debian/ trixie main\n',
    }),
  ).toEqual(['deb  http://mirror.test/debian/ other main\n', 'deb  http://tools.test/packages other main\n']);
});

test('copies packages from a mirror in the file system', () => {
  expect(mirrorsOf({ 'sources.list': 'deb file:/srv/debian trixie main\n' })).toEqual([
    'deb  copy:/srv/debian other main\n',
  ]);
});

test('finds nothing if apt is not configured', () => {
  expect(debianMirrors('/nonexistent')).toEqual([]);
});
