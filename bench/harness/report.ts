import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Provenance } from './machine.ts';
import type { Size } from './options.ts';
import { formatNumber, formatSummary, type Summary } from './statistics.ts';

/** A figure with its spread. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly summary: Summary;
  /** What has to be known to read it. */
  readonly note?: string;
  /** What the project set out to reach. */
  readonly target?: { readonly says: string; readonly isMet: boolean };
}

/** Figures that are read best side by side. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** What one part of the benchmark found out. */
export interface PartReport {
  readonly title: string;
  /** What was measured, against what, and how. */
  readonly about: readonly string[];
  /** The page that shows it, where that is not RESULTS.md. */
  readonly shownIn?: string;
  readonly figures: readonly Figure[];
  readonly tables?: readonly Table[];
  /** Everything as it was measured. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A report as it is kept. */
export interface KeptReport extends PartReport {
  /** What measured it, in the commit that the provenance names. */
  readonly command: string;
  readonly size: Size;
  readonly seconds: number;
  readonly provenance: Provenance;
}

/** Holds a figure against a target. @param than what the limit is a multiple of, or its unit. */
export function atLeast(limit: number, than: string, figure: Figure): Figure {
  return { ...figure, target: { says: `≥ ${String(limit)} ${than}`, isMet: figure.summary.median >= limit } };
}

export function atMost(limit: number, than: string, figure: Figure): Figure {
  return { ...figure, target: { says: `≤ ${String(limit)} ${than}`, isMet: figure.summary.median <= limit } };
}

/** Writes `<part>.json`. */
export function writeReport(folder: string, name: string, report: KeptReport): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(report, null, 1)}\n`);
}

/** Prints a report for people. */
export function showReport({ title, figures, tables = [] }: PartReport, seconds: number): void {
  console.log(`\n${title} (${seconds.toFixed(0)} s)`);
  for (const { name, unit, summary, note, target } of figures) {
    const verdict = target === undefined ? '' : `  ${target.isMet ? 'met' : 'missed'}: ${target.says}`;
    const more = note === undefined ? '' : `  [${note}]`;
    console.log(`  ${name}: ${formatSummary(summary, unit)}${verdict}${more}`);
  }
  for (const { columns, rows } of tables)
    for (const row of [columns, ...rows]) console.log(`  ${row.join(' | ')}`);
}

/** Makes RESULTS.md, beside the folder of results, of every report that is there. */
export function writeResultsPage(folder: string): void {
  const reports = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({
      name: basename(name, '.json'),
      report: JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptReport,
    }));
  const lines = [
    '# Measured',
    '',
    'Made by `npm run bench`. What is measured and how to read it: [docs/benchmarks.md](../docs/benchmarks.md).',
    'A figure is the median of its rounds, with the lowest and the highest beside it; a ratio is taken round by round. The',
    'command above a table measured it in the commit beside it.',
    '',
    ...reports.flatMap(({ name, report }) => section(report, `${basename(folder)}/${name}.json`)),
  ];
  writeFileSync(join(folder, '..', 'RESULTS.md'), lines.join('\n'));
}

function section({ provenance, ...report }: KeptReport, raw: string): string[] {
  const { title, about, shownIn, figures, tables = [], command, size } = report;
  const { measuredAt, machine, commit, versions } = provenance;
  if (shownIn !== undefined)
    return [`**${title}**: \`${command}\`, shown in [${shownIn}](../${shownIn}). Raw: [${raw}](${raw})`, ''];
  const targets = figures.some(({ target }) => target !== undefined);
  return [
    `## ${title}`,
    '',
    `\`${command}\`, ${size}, ${measuredAt.slice(0, 10)}, commit ${commit}, ${machine.cpu} with ${String(machine.cores)} cores, load before ${formatNumber(machine.loadBefore)}, ${versions.engine}, Node ${versions.node}. Raw: [${raw}](${raw}). ${about.join(' ')}`,
    '',
    ...(figures.length === 0
      ? []
      : tableLines({
          columns: targets ? ['what', 'measured', 'target', 'verdict'] : ['what', 'measured'],
          rows: figures.map((figure) => [...row(figure), ...(targets ? verdict(figure) : [])]),
        })),
    ...tables.flatMap(tableLines),
  ];
}

function row({ name, unit, summary, note }: Figure): string[] {
  return [`${name}${note === undefined ? '' : ` (${note})`}`, formatSummary(summary, unit)];
}

function verdict({ target }: Figure): string[] {
  return target === undefined ? ['', ''] : [target.says, target.isMet ? 'met' : '**missed**'];
}

function tableLines({ columns, rows: lines }: Table): string[] {
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...lines.map(line), ''];
}
