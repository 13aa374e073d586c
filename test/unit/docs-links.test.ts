import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT_OUT = new Set(['node_modules', 'dist', '.git', 'coverage']);

function markdownBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : markdownBelow(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** The targets of a page's links to other files of the project, without code. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchor that a heading gets. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function hasAnchor(file: string, anchor: string): boolean {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
  return [...headings].some(([, heading = '']) => anchorOf(heading) === anchor);
}

/** What a project has installed is here. */
const INSTALLED = 'node_modules/@fanfare/server/';

function placeOf(file: string, path: string): string {
  return file.startsWith(INSTALLED) ? join(PROJECT, file.slice(INSTALLED.length)) : join(dirname(path), file);
}

test.each(markdownBelow('.'))('the links of %s resolve', (page) => {
  const path = join(PROJECT, page);
  const broken = linksOf(readFileSync(path, 'utf8')).filter((target) => {
    const [file = '', anchor] = target.split('#');
    const place = file === '' ? path : placeOf(file, path);
    if (!existsSync(place)) return true;
    return anchor !== undefined && place.endsWith('.md') && !hasAnchor(place, anchor);
  });
  expect(broken).toEqual([]);
});

test('public pages use the full name of the package', () => {
  const pages = ['docs', 'examples', 'packages', 'templates'].flatMap(markdownBelow);
  const short = pages.flatMap((page) =>
    readFileSync(join(PROJECT, page), 'utf8')
      .split('\n')
      .filter((line) => line.includes('npx fanfare') && !line.startsWith('In a clone '))
      .map((line) => `${page}: ${line}`),
  );
  expect(short).toEqual([]);
});
