import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scaleTables, withTables } from '../../schema/scale-page.ts';
import { MEASURED_COSTS } from '../../src/cli/plan/measured-costs.ts';
import { readUnitCosts } from '../../src/cli/plan/unit-costs.ts';

/** Tables are laid out by the formatter. */
function inOneLayout(text: string): string {
  return text
    .replace(/ +/g, ' ')
    .replace(/-{3,}/g, '---')
    .replace(/\n{2,}/g, '\n\n');
}

test('docs/scale.md has the figures that fanfare plan prints: npm run scale writes them', () => {
  const page = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8');
  expect(inOneLayout(page)).toBe(inOneLayout(withTables(page, scaleTables(MEASURED_COSTS))));
});

test('the costs that ship are those the benchmark has measured', async () => {
  const measured = new URL('../../bench/results/unit-costs.json', import.meta.url);
  expect(MEASURED_COSTS).toEqual(await readUnitCosts(fileURLToPath(measured)));
});
