import type { BarChart, Chart, CurveChart } from './chart.ts';
import { formatNumber } from './format.ts';

const WIDTH = 760;
const LEFT = 250;
const RIGHT = 150;
const ROW = 30;
const PLOT_HEIGHT = 260;
/** Numbers below the axis. */
const MOST_MARKS = 15;
const COLOURS = ['#2563eb', '#ea580c', '#16a34a', '#9333ea', '#64748b', '#dc2626'];

/** Draws a chart. Nothing but shapes and text, so that it shows anywhere. */
export function drawSvg(chart: Chart): string {
  return chart.kind === 'bars' ? drawBars(chart) : drawCurves(chart);
}

function drawBars({ title, unit, bars }: BarChart): string {
  const most = Math.max(...bars.map((bar) => bar.max));
  const x = (value: number): number => LEFT + (value / most) * (WIDTH - LEFT - RIGHT);
  const rows = bars.flatMap((bar, index) => {
    const y = 50 + index * ROW;
    const middle = y + 10;
    return [
      text(LEFT - 8, middle + 4, bar.label, 'end'),
      `<rect x="${LEFT}" y="${y}" width="${place(x(bar.value) - LEFT)}" height="20" fill="${colour(index)}"/>`,
      line(x(bar.min), middle, x(bar.max), middle),
      line(x(bar.min), middle - 4, x(bar.min), middle + 4),
      line(x(bar.max), middle - 4, x(bar.max), middle + 4),
      text(x(bar.max) + 8, middle + 4, `${formatNumber(bar.value)} ${unit}`, 'start'),
    ];
  });
  return svg(60 + bars.length * ROW, [heading(title), ...rows]);
}

function drawCurves({ title, xScale, xLabel, unit, curves }: CurveChart): string {
  const points = curves.flatMap((curve) => curve.points);
  const scaled = (value: number): number => (xScale === 'linear' ? value : Math.log10(value));
  const xs = points.map((point) => scaled(point.x));
  const [from, to] = [Math.min(...xs), Math.max(...xs)];
  const most = Math.max(...points.map((point) => point.y));
  const bottom = 50 + PLOT_HEIGHT;
  const left = 90;
  const x = (value: number): number =>
    left + ((scaled(value) - from) / Math.max(to - from, 1e-9)) * (WIDTH - left - RIGHT);
  const y = (value: number): number => bottom - (value / most) * PLOT_HEIGHT;
  const marks = marksOf(points.map((point) => point.x)).map((value) =>
    text(x(value), bottom + 18, value.toLocaleString('en', { maximumFractionDigits: 1 }), 'middle'),
  );
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    line(left, y(most * share), WIDTH - RIGHT, y(most * share), '#e2e8f0'),
    text(left - 8, y(most * share) + 4, formatNumber(most * share), 'end'),
  ]);
  const drawn = curves.flatMap(({ label, points: own }, index) => {
    const path = own.map((point) => `${place(x(point.x))},${place(y(point.y))}`).join(' ');
    const last = own.at(-1);
    return [
      `<polyline points="${path}" fill="none" stroke="${colour(index)}" stroke-width="2"/>`,
      ...own.map(
        (point) =>
          `<circle cx="${place(x(point.x))}" cy="${place(y(point.y))}" r="3" fill="${colour(index)}"/>`,
      ),
      ...(last === undefined ? [] : [text(x(last.x) + 8, y(last.y) + 4, label, 'start', colour(index))]),
    ];
  });
  return svg(bottom + 50, [
    heading(title),
    ...grid,
    ...marks,
    text(left, bottom + 40, `${xLabel}; upright: ${unit}`, 'start'),
    ...drawn,
  ]);
}

/** What was measured; of many, some that are evenly apart. */
function marksOf(xs: readonly number[]): readonly number[] {
  const different = [...new Set(xs)].sort((a, b) => a - b);
  const every = Math.ceil(different.length / MOST_MARKS);
  return different.filter((_, index) => index % every === 0);
}

function svg(height: number, shapes: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...shapes,
    '</svg>',
    '',
  ].join('\n');
}

function heading(title: string): string {
  return `<text x="16" y="28" font-size="15" font-weight="bold">${escape(title)}</text>`;
}

function text(x: number, y: number, words: string, anchor: string, fill = '#0f172a'): string {
  return `<text x="${place(x)}" y="${place(y)}" text-anchor="${anchor}" fill="${fill}">${escape(words)}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, stroke = '#0f172a'): string {
  return `<line x1="${place(x1)}" y1="${place(y1)}" x2="${place(x2)}" y2="${place(y2)}" stroke="${stroke}"/>`;
}

function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#000000';
}

function place(value: number): string {
  return value.toFixed(1);
}

function escape(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
