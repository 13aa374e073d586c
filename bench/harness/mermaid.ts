import type { Chart } from './chart.ts';

/** Labels of more points would lie on each other. */
const MOST_POINTS = 24;

/** A chart as Mermaid draws it in Markdown. Bars show medians; the table beside them has the spread. */
export function drawMermaid(chart: Chart): string[] {
  const text = (value: string): string => `"${value.replaceAll('"', "'")}"`;
  const list = (values: readonly string[]): string => `[${values.join(', ')}]`;
  const numbers = (values: readonly number[]): string =>
    list(values.map((value) => String(+value.toPrecision(4))));
  const lines =
    chart.kind === 'bars'
      ? [
          `  x-axis ${list(chart.bars.map(({ label }) => text(label)))}`,
          `  y-axis ${text(chart.unit)}`,
          `  bar ${numbers(chart.bars.map(({ value }) => value))}`,
        ]
      : [
          `  x-axis ${text(chart.xLabel)} ${list(thin(chart.curves[0]?.points ?? []).map(({ x }) => text(x.toLocaleString('en', { maximumFractionDigits: 1 }))))}`,
          `  y-axis ${text(chart.unit)}`,
          ...chart.curves.map(({ points }) => `  line ${numbers(thin(points).map(({ y }) => y))}`),
        ];
  const legend =
    chart.kind === 'curves' && chart.curves.length > 1
      ? [
          `Lines, in the order in which they were drawn: ${chart.curves.map(({ label }) => label).join('; ')}.`,
          '',
        ]
      : [];
  return ['```mermaid', 'xychart-beta', `  title ${text(chart.title)}`, ...lines, '```', '', ...legend];
}

/** Every so many of the points, the first and the last among them. */
function thin<T>(points: readonly T[]): readonly T[] {
  if (points.length <= MOST_POINTS) return points;
  const step = (points.length - 1) / (MOST_POINTS - 1);
  return Array.from({ length: MOST_POINTS }, (_, index) => points[Math.round(index * step)] as T);
}
