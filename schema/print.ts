import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clientInputs } from './client-inputs.ts';
import { printedSchema } from '../src/app/in-process.ts';

/** Where the schema is committed. */
export const SCHEMA_FILE = fileURLToPath(new URL('schema.graphql', import.meta.url));
const INPUTS_FILE = fileURLToPath(
  new URL('../packages/client/src/generated/mutation-inputs.ts', import.meta.url),
);

/** Writes the schema and what follows from it to their files, or with `--check` fails when one is not up to date. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const printed = await printedSchema();
  for (const [file, text] of [
    [SCHEMA_FILE, printed],
    [INPUTS_FILE, clientInputs(printed)],
  ] as const) {
    if (!values.check) await writeFile(file, text);
    else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      console.error(`${file} is not up to date: run \`npm run schema\``);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
