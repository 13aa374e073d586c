import type { Summary } from './statistics.ts';

/** Three significant digits, thousands separated. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const tiny = Math.abs(value) < 0.01 && value !== 0;
  return tiny
    ? value.toPrecision(2)
    : value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `1.2 ms (1.1–1.4)` */
export function formatSummary({ median, min, max }: Summary, unit: string): string {
  const shown = unit === '×' ? `${formatNumber(median)} ×` : `${formatNumber(median)} ${unit}`;
  return `${shown} (${formatNumber(min)}–${formatNumber(max)})`;
}
