import { reportOf, type ReportTable } from './report.ts';
import type { Plan } from './shape.ts';

/** For a terminal. */
export function planLines(plan: Plan): readonly string[] {
  const { title, tables, instead, advice, notes } = reportOf(plan);
  // Text instead of a lag stands in the place of the lag.
  const [load, machines, storage, ...rest] = tables.map(tableLines);
  return [
    ...[title, '', ...(load ?? []), ...(machines ?? []), ...(storage ?? [])],
    ...(instead === null ? [] : [instead, '']),
    ...rest.flat(),
    ...['To change:', ...(advice.length === 0 ? ['  nothing'] : advice.map((line) => `  - ${line}`)), ''],
    ...notes,
  ];
}

/** Columns under each other, below a title. */
function tableLines({ title, rows }: ReportTable): string[] {
  if (rows.length === 0) return [];
  const all = rows.map(({ cells }) => cells);
  const widths = (all[0] ?? []).map((_, n) => Math.max(...all.map((row) => row[n]?.length ?? 0)));
  const lines = all.map((row) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  '));
  return [`${title}:`, ...lines.map((line) => `  ${line.trimEnd()}`), ''];
}
