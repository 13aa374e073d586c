import { useEffect, useRef, useState, type ReactNode } from 'react';
import uPlot from 'uplot';
import { t } from '../words/language.ts';

const HEIGHT_PX = 150;
const LINES = ['--fanfare-accent', '--fanfare-warn'] as const;

/** Of a line at a moment, in ms; `null`: nothing is known. */
export interface Point {
  readonly at: number;
  readonly value: number | null;
}

interface Series {
  /** Of the line, where there are several. */
  readonly name: string;
  readonly points: readonly Point[];
}

interface Props {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
  /** All plots go from the same moment to the same. */
  readonly from: number;
  readonly to: number;
}

/** One or two lines over time, with axes; the moment under the pointer is said in its head. */
export function Plot({ title, unit, series, from, to }: Props): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const times = series[0]?.points.map((point) => point.at) ?? [];
  const data: uPlot.AlignedData = [
    times.map((time) => time / 1_000),
    ...series.map(({ points }) => points.map(({ value }) => value)),
  ];
  const count = series.length;
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const colour = (name: string) => (): string => colourOf(element, name);
    const axis = { stroke: colour('--fanfare-quiet'), grid: { stroke: colour('--fanfare-line'), width: 1 } };
    const font = `11px ${getComputedStyle(element).fontFamily}`;
    const made = new uPlot(
      {
        ...{ width: element.clientWidth, height: HEIGHT_PX, padding: [8, 18, 0, 0] },
        ...{ legend: { show: false }, cursor: { y: false, drag: { setScale: false } } },
        scales: { y: { range: (_, __, highest) => [0, Math.max(1, (highest || 0) * 1.15)] } },
        axes: [
          {
            ...axis,
            ...{ font, size: 26, ticks: { show: false }, space: 60, incrs: [60, 120, 300, 600, 900, 1_800] },
            values: (_, all) => all.map((seconds) => clockTime(seconds * 1_000).slice(0, 5)),
          },
          {
            ...axis,
            ...{ font, size: 42, ticks: { show: false }, space: 34 },
            values: (_, all) => all.map(rounded),
          },
        ],
        series: [
          {},
          ...Array.from({ length: count }, (_, n) => ({
            ...{ stroke: colour(LINES[n] ?? LINES[0]), width: 1.75, points: { show: false } },
            ...(n === 0 ? { fill: colour('--fanfare-soft') } : {}),
          })),
        ],
        hooks: { setCursor: [({ cursor }) => setAt(cursor.idx ?? null)] },
      },
      [[], ...Array.from({ length: count }, () => [])],
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => made.redraw();
    scheme.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', redraw);
      made.destroy();
    };
  }, [count]);
  useEffect(() => {
    plot.current?.setData(data, false);
    plot.current?.setScale('x', { min: from / 1_000, max: Math.max(to, from + 60_000) / 1_000 });
  });
  const index = at ?? times.length - 1;
  const said = series
    .map(({ name, points }) => {
      const value = points[index]?.value;
      return `${count > 1 ? `${t(name)} ` : ''}${value == null ? '–' : `${rounded(value)} ${unit}`}`;
    })
    .join(', ');
  const moment = at === null ? undefined : times[at];
  return (
    <figure className="card plot">
      <figcaption>
        <strong>{title}</strong>
        <span translate="no">
          {moment !== undefined && `${clockTime(moment)} · `}
          {said}
        </span>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title} over time: ${said}`} data-points={times.length} />
    </figure>
  );
}

/** Canvases know no custom properties, nor what a browser makes of light and dark: an element is asked. */
function colourOf(element: HTMLElement, name: string): string {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = before;
  return color;
}

function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString('sv');
}

function rounded(value: number): string {
  return value.toLocaleString(document.documentElement.lang, {
    maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2,
  });
}
