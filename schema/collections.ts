import { readFile, writeFile } from 'node:fs/promises';
import { collectionsMarkdown } from './collections-table.ts';
import { shardingTables } from './sharding-tables.ts';

/** Writes the tables of collections into the documents, each behind its mark. */
async function writeTables(name: string, tables: readonly (readonly string[])[]): Promise<void> {
  const document = new URL(`../docs/${name}`, import.meta.url);
  const [before = '', ...marked] = (await readFile(document, 'utf8')).split(
    /(?<=writes this table\. -->\n\n)/u,
  );
  const written = marked.map(
    (text, n) => `${(tables[n] ?? []).join('\n')}\n${text.replace(/^(?:\|.*\n)+/u, '')}`,
  );
  await writeFile(document, [before, ...written].join(''));
}

await writeTables('collections.md', [collectionsMarkdown()]);
await writeTables('sharding.md', shardingTables());
