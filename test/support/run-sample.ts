import { readFile } from 'node:fs/promises';
import { transformWithOxc } from 'vite';

type Module = (...values: unknown[]) => Promise<Readonly<Record<string, unknown>>>;
const { constructor: AsyncFunction } = Object.getPrototypeOf(async () => Promise.resolve()) as {
  readonly constructor: new (...of: string[]) => Module;
};

/** What a page of the docs shows first on pages without a connection, as a module with these names, of which it returns some. */
export async function runSample(
  page: string,
  { names, modules, gives }: { names: object; modules: Readonly<Record<string, object>>; gives: string },
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const [, part = ''] = text.split('\n## Without a connection\n');
  const [, sample = ''] = /^```tsx?\n(.*?)^```$/ms.exec(part) ?? [];
  const { code } = await transformWithOxc(`${sample}\nvoid [${gives}];`, 'sample.tsx', {
    jsx: { runtime: 'classic' },
  });
  const body = code
    .replace(/^import \* as (\w+) from "([^"]+)";$/gm, 'const $1 = modules["$2"];')
    .replace(/^import (\{[^}]+\}) from "([^"]+)";$/gm, 'const $1 = modules["$2"];');
  const given = { ...names, modules };
  const module = new AsyncFunction(...Object.keys(given), `${body}\nreturn { ${gives} };`);
  return module(...Object.values(given));
}
