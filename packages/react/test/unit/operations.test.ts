import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const DOCUMENT = /['"`]\s*(?:query|mutation|subscription)\b[^'"`]*\{/;

test('only the files from which operationsOf reads contain documents', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  const withDocuments = files.filter(
    (file) => /\.tsx?$/.test(file) && DOCUMENT.test(readFileSync(`${SOURCES}${file}`, 'utf8')),
  );
  expect(withDocuments.sort()).toEqual(['documents.ts', 'more-documents.ts']);
});
