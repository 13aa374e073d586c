import { readFile, writeFile } from 'node:fs/promises';
import { collectionsMarkdown } from './collections-table.ts';

/** Writes the table of collections into its document, behind the mark. */
const document = new URL('../docs/collections.md', import.meta.url);
const [before] = (await readFile(document, 'utf8')).split('-->');
await writeFile(document, `${String(before)}-->\n\n${collectionsMarkdown().join('\n')}\n`);
