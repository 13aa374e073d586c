import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planCheckLines, readPlanCheck } from '../../measure/plan-check.ts';
import { scaleTables, withTables } from '../../measure/scale-page.ts';
import { MEASURED_COSTS } from '../../src/measured-costs.ts';

/** Tables are laid out by the formatter. */
function inOneLayout(text: string): string {
  return text
    .replace(/ +/g, ' ')
    .replace(/-{3,}/g, '---')
    .replace(/\n{2,}/g, '\n\n');
}

test('docs/scale.md has the figures of fanfare plan and of the benchmark: npm run scale writes them', async () => {
  const page = readFileSync(new URL('../../../../docs/scale.md', import.meta.url), 'utf8');
  const plan = await readPlanCheck(new URL('../../../../bench/results/plan.json', import.meta.url));
  const tables = { ...scaleTables(MEASURED_COSTS), checked: planCheckLines(plan) };
  expect(inOneLayout(page)).toBe(inOneLayout(withTables(page, tables)));
});
