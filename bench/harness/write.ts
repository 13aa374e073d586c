import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  for (const { figure, isMet } of report.verdicts)
    console.log(
      `  ${isMet ? 'met   ' : 'MISSED'} ${figure.name}: ${formatSummary(figure.summary, figure.unit)}`,
    );
}

/** Makes RESULTS.md, beside the folder of results, of every report that is there. */
export function writeResultsPage(folder: string): void {
  const reports = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({
      name: basename(name, '.json'),
      report: JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptReport,
    }));
  writeFileSync(join(folder, '..', 'RESULTS.md'), resultsPage(reports, basename(folder)));
}
