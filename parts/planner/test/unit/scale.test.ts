import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { planCheckLines } from '../../measure/plan-check.ts';
import { MEASURED_COSTS } from '../../src/measured-costs.ts';
import { readUnitCosts } from '../../src/unit-costs.ts';

test('the shipped costs are those of the benchmark', async () => {
  const measured = new URL('../../../../bench/results/unit-costs.json', import.meta.url);
  expect(MEASURED_COSTS).toEqual(await readUnitCosts(fileURLToPath(measured)));
});

test('the check of the simulation lists figures that are off by more than a quarter', () => {
  const figure = (name: string, median: number, count: number) => ({
    name,
    summary: { median, min: median, max: median + 0.1, count },
    target: { isMet: median > 0.75 && median < 1.25 },
  });
  const lines = planCheckLines({
    size: 'full',
    provenance: { measuredAt: '2026-01-02T03:04Z', machine: { cpu: 'a CPU', cores: 2, loadBefore: 0.1 } },
    figures: [
      figure('1,000 members: simulated / measured, p50', 1.1, 3),
      figure('1,000 members: simulated / measured, p99.9', 1.5, 1),
    ],
  });
  expect(lines).toEqual([
    'Measured 2026-01-02 on a CPU, 2 cores, size full.',
    '',
    '| run | p50 | p99 | p99.9 | mean |',
    '| --- | --- | --- | --- | --- |',
    '| 1,000 members | 1.10 (1.10–1.20) |  | 1.50 |  |',
    '',
    '1 of 2 are further off than 25 %: 1,000 members, p99.9: 1.50.',
  ]);
});
