import { readdir, readFile } from 'node:fs/promises';
import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { exampleOf } from '../../../docs/api/examples.ts';
import { buildSchema } from '../../../src/app/schema.ts';

const PROJECT = new URL('../../../', import.meta.url);

/** Every operation that the README and the docs show. */
async function shownOperations(): Promise<{ file: string; source: string }[]> {
  const docs = (await readdir(new URL('docs/', PROJECT))).filter((name) => name.endsWith('.md'));
  const files = ['README.md', ...docs.map((name) => `docs/${name}`)];
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, PROJECT), 'utf8')));
  return texts.flatMap((text, index) =>
    [...text.matchAll(/^```graphql\n(.*?)^```/gms)].map(([, source = '']) => ({
      file: files[index] ?? '',
      source,
    })),
  );
}

test('operations in the README and the docs fit the schema', async () => {
  const operations = await shownOperations();
  expect(operations.filter(({ file }) => file === 'README.md').length).toBeGreaterThan(1);
  expect(operations.filter(({ file }) => file === 'docs/getting-started.md').length).toBeGreaterThan(1);
  const schema = await buildSchema();
  const faults = operations.flatMap(({ file, source }) =>
    validate(schema, parse(source)).map(({ message }) => `${file}: ${message}`),
  );
  expect(faults).toEqual([]);
});

test('each mutation of the reference has an example that fits the schema', async () => {
  const schema = await buildSchema();
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  expect(mutations.length).toBeGreaterThan(50);
  const faults = mutations.flatMap((one) =>
    validate(schema, parse(exampleOf(one))).map(({ message }) => `${exampleOf(one)}: ${message}`),
  );
  expect(faults).toEqual([]);
});

test('each block of the cookbook is a piece of the file that it names', async () => {
  const page = await readFile(new URL('docs/cookbook.md', PROJECT), 'utf8');
  const blocks = [...page.matchAll(/^<!-- (\S+) -->\n\n```\w+\n(.*?)^```/gms)];
  expect(blocks).toHaveLength(page.match(/^```\w/gm)?.length ?? 0);
  // A statement of its own ends with a semicolon.
  const lines = (text: string): string => text.replaceAll(/;?\s*\n\s*/g, '\n').trim();
  for (const [, path = '', code = ''] of blocks)
    expect(lines(await readFile(new URL(path, PROJECT), 'utf8')), path).toContain(lines(code));
});

test('the README has at most 120 lines', async () => {
  const text = await readFile(new URL('README.md', PROJECT), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
