import { readFile, writeFile } from 'node:fs/promises';
import { BROUGHT } from '../src/app/brought.ts';
import { settingsMarkdown } from '../parts/operators/src/doctor.ts';

/** Writes the tables of settings into their document, between the two marks. */
const document = new URL('../docs/configuration.md', import.meta.url);
const text = await readFile(document, 'utf8');
const table = /(<!-- settings: [^\n]*-->\n)[^]*(<!-- \/settings -->)/;
if (!table.test(text)) throw new Error(`${document.pathname} has no marks around its tables`);
await writeFile(
  document,
  text.replace(
    table,
    (_, begin: string, end: string) => `${begin}\n${settingsMarkdown(BROUGHT).join('\n')}\n${end}`,
  ),
);
