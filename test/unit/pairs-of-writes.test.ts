import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const PAGE = new URL('../../docs/decisions/0012-rulings-have-numbers.md', import.meta.url);
const SERVICES = new URL('../integration/services/', import.meta.url);

test('each pair of writes that decide one thing names the test that forces it', () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, file, title] = /\| `([\w-]+)`: (.+?)\s*\|$/u.exec(line) ?? [];
      return file === undefined || title === undefined ? [] : [{ file, title }];
    });
  expect(rows.length).toBeGreaterThan(10);
  const missing = rows.filter(
    ({ file, title }) => !readFileSync(new URL(`${file}.test.ts`, SERVICES), 'utf8').includes(title),
  );
  expect(missing).toEqual([]);
});
