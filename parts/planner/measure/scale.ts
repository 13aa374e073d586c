import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readUnitCosts } from '../src/unit-costs.ts';
import { planCheckLines, readPlanCheck } from './plan-check.ts';
import { scaleTables, withTables } from './scale-page.ts';

/** Takes over what the benchmark has measured: the unit costs that `fanfare plan` has, and the figures of docs/scale.md. */
const measured = fileURLToPath(new URL('../../../bench/results/unit-costs.json', import.meta.url));
const source = new URL('../src/measured-costs.ts', import.meta.url);
const page = new URL('../../../docs/scale.md', import.meta.url);

const costs = await readUnitCosts(measured);
await writeFile(
  source,
  `import type { UnitCosts } from './unit-costs.ts';

/** What the benchmark has measured: \`npm run scale\` takes it from bench/results/unit-costs.json. */
export const MEASURED_COSTS: UnitCosts = ${JSON.stringify(costs)};
`,
);
const checked = planCheckLines(
  await readPlanCheck(new URL('../../../bench/results/plan.json', import.meta.url)),
);
await writeFile(page, withTables(await readFile(page, 'utf8'), { ...scaleTables(costs), checked }));
