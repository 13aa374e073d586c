import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printedSchema } from '../src/graphql/in-process.ts';

/** Where the schema is committed. */
export const SCHEMA_FILE = fileURLToPath(new URL('schema.graphql', import.meta.url));

/** Writes the schema to its file, or with `--check` fails when the file is not up to date. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const printed = await printedSchema();
  if (!values.check) {
    await writeFile(SCHEMA_FILE, printed);
    return;
  }
  const committed = await readFile(SCHEMA_FILE, 'utf8').catch(() => '');
  if (committed === printed) return;
  console.error('schema/schema.graphql is not up to date: run `npm run schema`');
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
