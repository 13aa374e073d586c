import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { formatSummary } from './format.ts';
import { verdictOf, type KeptReport, type PartReport } from './report.ts';
import { resultsPage } from './results-page.ts';

/** Writes `<part>.json`. */
export function writeReport(folder: string, name: string, report: KeptReport): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(report, null, 1)}\n`);
}

/** Prints a report for people. */
export function showReport(report: PartReport, seconds: number): void {
  console.log(`\n${report.title} (${seconds.toFixed(0)} s)`);
  for (const { name, unit, summary, note } of report.figures)
    console.log(`  ${name}: ${formatSummary(summary, unit)}${note === undefined ? '' : `  [${note}]`}`);
  for (const { columns, rows } of report.tables ?? [])
    for (const row of [columns, ...rows]) console.log(`  ${row.join(' | ')}`);
  for (const verdict of report.verdicts)
    console.log(
      `  ${verdictOf(verdict)}: ${verdict.figure.name}: ${formatSummary(verdict.figure.summary, verdict.figure.unit)}`,
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
