import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { formatSummary } from './format.ts';
import type { Provenance } from './machine.ts';
import type { Options } from './options.ts';
import type { PartReport } from './report.ts';
import { resultsPage } from './results-page.ts';
import { drawSvg } from './svg.ts';

/** A report as it is kept. */
export interface KeptReport extends PartReport {
  readonly size: Options['size'];
  readonly seconds: number;
  readonly provenance: Provenance;
}

/** Below the results: those of the second run. */
const SECOND = 'second';

/** Where the results of this run go. */
export function folderOf({ out, isSecond }: Pick<Options, 'out' | 'isSecond'>): string {
  const folder = isSecond ? join(out, SECOND) : out;
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes `<part>.json` and one SVG for each chart. */
export function writeReport(folder: string, name: string, report: KeptReport): void {
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(report, null, 1)}\n`);
  for (const chart of report.charts) writeFileSync(join(folder, `${chart.name}.svg`), drawSvg(chart));
}

/** Prints a report for people. */
export function showReport(report: PartReport, seconds: number): void {
  console.log(`\n${report.title} (${seconds.toFixed(0)} s)`);
  for (const { name, unit, summary, note } of report.figures)
    console.log(`  ${name}: ${formatSummary(summary, unit)}${note === undefined ? '' : `  [${note}]`}`);
  for (const { columns, rows } of report.tables ?? [])
    for (const row of [columns, ...rows]) console.log(`  ${row.join(' | ')}`);
  for (const { figure, isMet } of report.verdicts)
    console.log(
      `  ${isMet ? 'met   ' : 'MISSED'} ${figure.name}: ${formatSummary(figure.summary, figure.unit)}`,
    );
}

/** Makes RESULTS.md, beside the folder of results, of every report that is there. */
export function writeResultsPage(folder: string): void {
  const reports = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const report = readReport(join(folder, name));
      return { name: basename(name, '.json'), report, second: secondOf(report, join(folder, SECOND, name)) };
    });
  writeFileSync(join(folder, '..', 'RESULTS.md'), resultsPage(reports, basename(folder)));
}

/** A second run comes after the first and is of the same size; what is left of an earlier pair is not one. */
function secondOf(first: KeptReport, path: string): KeptReport | null {
  if (!existsSync(path)) return null;
  const second = readReport(path);
  const isLater = second.provenance.measuredAt > first.provenance.measuredAt;
  return isLater && second.size === first.size ? second : null;
}

function readReport(path: string): KeptReport {
  return JSON.parse(readFileSync(path, 'utf8')) as KeptReport;
}
