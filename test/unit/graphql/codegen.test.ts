import { readFile } from 'node:fs/promises';
import { generate } from '@graphql-codegen/cli';
import { expect, test } from 'vitest';
import config from '../../../codegen.ts';

test('the types of the test documents are up to date; if not, run graphql-codegen', async () => {
  const files = (await generate({ ...config, silent: true }, false)) as {
    filename: string;
    content: string;
  }[];
  expect(files.length).toBeGreaterThan(1);
  for (const { filename, content } of files) expect(await readFile(filename, 'utf8'), filename).toBe(content);
});
