import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const SEPARATOR = ': simulated / measured, ';
const WHAT = ['p50', 'p99', 'p99.9', 'mean'] as const;

/** The part of the benchmark's report that counts here. */
const report = z.object({
  size: z.string(),
  provenance: z.object({
    measuredAt: z.string(),
    machine: z.object({ cpu: z.string(), cores: z.number(), loadBefore: z.number() }),
  }),
  figures: z.array(
    z.object({
      name: z.string().includes(SEPARATOR),
      summary: z.object({ median: z.number(), min: z.number(), max: z.number(), count: z.number() }),
      target: z.object({ isMet: z.boolean() }),
    }),
  ),
});

export type PlanCheck = z.infer<typeof report>;

/** @throws ZodError when it is no report of the benchmark's part `plan`. */
export async function readPlanCheck(path: URL): Promise<PlanCheck> {
  return report.parse(JSON.parse(await readFile(path, 'utf8')));
}

/** What the simulation said by what was measured, run by run, and how much of it can be relied on. */
export function planCheckLines({ size, provenance, figures }: PlanCheck): string[] {
  const { measuredAt, machine } = provenance;
  const found = figures.map(({ name, summary, target: { isMet } }) => {
    const [run = '', what = ''] = name.split(SEPARATOR);
    return { run, what, isMet, summary };
  });
  const runs = [...new Set(found.map(({ run }) => run))];
  const cell = (run: string, what: string): string => {
    const one = found.find((other) => other.run === run && other.what === what);
    if (one === undefined) return '';
    const { median, min, max, count } = one.summary;
    const spread = count === 1 ? '' : ` (${min.toFixed(2)}–${max.toFixed(2)})`;
    return `${median.toFixed(2)}${spread}`;
  };
  const missed = found.filter(({ isMet }) => !isMet);
  const outside = missed.map(({ run, what, summary }) => `${run}, ${what}: ${summary.median.toFixed(2)}`);
  const verdict =
    missed.length === 0
      ? `All ${String(found.length)} lie within 25 %.`
      : `${String(missed.length)} of ${String(found.length)} are further off than 25 %: ${outside.join('; ')}.`;
  const busy =
    machine.loadBefore > 0.5
      ? ` The machine was at other work too (load ${machine.loadBefore.toFixed(2)}).`
      : '';
  return [
    `Measured ${measuredAt.slice(0, 10)} on ${machine.cpu}, ${String(machine.cores)} cores, size ${size}.${busy}`,
    '',
    `| run | ${WHAT.join(' | ')} |`,
    `| --- | ${WHAT.map(() => '---').join(' | ')} |`,
    ...runs.map((run) => `| ${run} | ${WHAT.map((what) => cell(run, what)).join(' | ')} |`),
    '',
    verdict,
  ];
}
