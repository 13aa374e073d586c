import { isBuiltin } from 'node:module';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { build, type Rolldown } from 'vite';

const ENTRY = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

/** Bundled as a frontend does it, with whatever it imports. */
async function bundle(minify = false): Promise<{ code: string; modules: string[]; imports: string[] }> {
  const output = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['browser', 'module', 'import', 'default'] },
    build: { write: false, minify, target: 'es2022', lib: { entry: ENTRY, formats: ['es'] } },
  });
  const [{ output: parts }] = output as [Rolldown.RolldownOutput];
  const chunks = parts.filter((part) => part.type === 'chunk');
  return {
    code: chunks.map(({ code }) => code).join('\n'),
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
    imports: chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]),
  };
}

test('the browser bundle of the client contains nothing of Node or the server', async () => {
  const { code, modules, imports } = await bundle();
  expect(imports).toEqual([]);
  expect(modules.filter((id) => isBuiltin(id) || id.includes('__vite-browser-external'))).toEqual([]);
  expect(modules.filter((id) => !id.includes('/packages/client/src/'))).toEqual([]);
  expect(code).not.toMatch(/\bnode:|\bBuffer\b|\bprocess\.|\brequire\(|\b__dirname\b/);
  expect(modules).toContain(ENTRY);
});

// That nothing of one reader goes to the next, and that changes of one thing are sent in turn, is 0.6 kB of it; lists, slices and threads 0.4 kB; pages upwards 0.03 kB; that a page can be left while it sends 0.05 kB.
test('the browser bundle stays below 8.4 kB', async () => {
  const { code } = await bundle(true);
  expect(gzipSync(code).length).toBeLessThan(8_400);
});
