import { formatNumber, formatSummary } from './format.ts';
import type { Provenance } from './machine.ts';
import { drawMermaid } from './mermaid.ts';
import { TARGETS, verdictOf, type KeptReport, type Table, type TargetRow } from './report.ts';

export interface Named {
  readonly name: string;
  readonly report: KeptReport;
}

/** RESULTS.md: where and of what, the targets beside what was measured, then every figure. */
export function resultsPage(reports: readonly Named[], folder: string): string {
  return [
    '# Measured',
    '',
    'Made by `npm run bench`. What is measured and how to read it: [docs/benchmarks.md](../docs/benchmarks.md).',
    'A figure is the median of its rounds, with the lowest and the highest beside it; a ratio is taken round by round.',
    '',
    ...provenances(reports),
    '## Targets',
    '',
    '| what | target | measured | |',
    '| --- | --- | --- | --- |',
    ...rows().flatMap((row) => targetRows(row, reports)),
    '',
    ...reports.flatMap((named) => section(named, folder)),
  ].join('\n');
}

function rows(): TargetRow[] {
  return Object.keys(TARGETS) as TargetRow[];
}

function targetRows(row: TargetRow, reports: readonly Named[]): string[] {
  const { what, target } = TARGETS[row];
  const all = reports.flatMap(({ report }) => report.verdicts.filter((verdict) => verdict.row === row));
  if (all.length === 0) return [`| ${what} | ${target} | – | not measured |`];
  return all.map((verdict) => {
    const { figure } = verdict;
    const note = figure.note === undefined ? '' : `; ${figure.note}`;
    const measured = `${formatSummary(figure.summary, figure.unit)}<br>${figure.name}${note}`;
    return `| ${what} | ${target} | ${measured} | ${verdict.isMet === false ? '**missed**' : verdictOf(verdict)} |`;
  });
}

function provenances(reports: readonly Named[]): string[] {
  const [first] = reports;
  if (first === undefined) return [];
  const { machine, versions, durability, commit, changedFiles } = first.report.provenance;
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `- Machine: ${machine.cpu}, ${String(machine.cores)} cores shared by engine, Redis, servers and clients, ${String(machine.memoryGiB)} GiB, Linux ${machine.kernel}`,
    `- Versions: ${list.join('; ')}`,
    `- Durability: ${durability}`,
    `- Commit: ${commit}${changedFiles === 0 ? '' : `, with ${String(changedFiles)} changed files`}`,
    `- Parts: ${reports.map((named) => partOf(named, commit)).join('; ')}`,
    '',
  ];
}

function partOf({ name, report }: Named, usual: string): string {
  const { provenance, size, seconds } = report;
  const { measuredAt, machine, commit }: Provenance = provenance;
  const other = commit === usual ? '' : `, commit ${commit}`;
  return `${name} (${size}, ${measuredAt.slice(0, 16)}Z, ${seconds.toFixed(0)} s, load before ${formatNumber(machine.loadBefore)}${other})`;
}

function section({ name, report }: Named, folder: string): string[] {
  return [
    `## ${report.title}`,
    '',
    ...report.about.flatMap((line) => [line, '']),
    '| what | measured |',
    '| --- | --- |',
    ...report.figures.map(({ name: what, unit, summary, note }) => {
      return `| ${what}${note === undefined ? '' : `<br>${note}`} | ${formatSummary(summary, unit)} |`;
    }),
    '',
    ...(report.tables ?? []).flatMap(tableLines),
    ...report.charts.flatMap(drawMermaid),
    `Raw: [${folder}/${name}.json](${folder}/${name}.json)`,
    '',
  ];
}

function tableLines({ columns, rows: lines }: Table): string[] {
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...lines.map(line), ''];
}
