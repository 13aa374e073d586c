import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

const PAGE = new URL('../../../../docs/elements.md', import.meta.url);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-bundle-'));
  const path = new URL('../../vite.config.js', import.meta.url).href;
  const { elements } = (await import(path)) as { elements(): Promise<InlineConfig> };
  const config = await elements();
  await build({ ...config, build: { ...config.build, outDir: folder } });
});
afterAll(() => rm(folder, { recursive: true }));

test('all four elements with everything they need are as small as the page says', async () => {
  const code = await readFile(join(folder, 'elements.js'), 'utf8');
  const promised = Number(/under ([\d,]+) bytes/.exec(await readFile(PAGE, 'utf8'))?.[1]?.replace(',', ''));
  const size = gzipSync(code).length;
  // A bundle that has lost its parts would be small too.
  expect(size).toBeGreaterThan(30_000);
  expect(size).toBeLessThan(promised);
  expect(promised).toBeLessThanOrEqual(60_000);
  expect(code).not.toMatch(/\bfrom\s*["']|react-dom/);
});

test('where a page is rendered on a server, importing it does nothing', () => {
  const count = '; console.log(Object.getOwnPropertyNames(globalThis).length)';
  const say = (script: string): string =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script + count], { encoding: 'utf8' });
  expect(say(`await import(${JSON.stringify(join(folder, 'elements.js'))})`)).toBe(say('await 0'));
});
