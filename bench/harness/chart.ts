/** A chart of bars with whiskers, or of curves. */
export type Chart = BarChart | CurveChart;

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

export interface BarChart {
  readonly kind: 'bars';
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

export interface CurveChart {
  readonly kind: 'curves';
  readonly name: string;
  readonly title: string;
  /** Default: logarithmic, for x above zero. */
  readonly xScale?: 'linear';
  readonly xLabel: string;
  readonly unit: string;
  /** Points in order of x. */
  readonly curves: readonly {
    readonly label: string;
    readonly points: readonly { readonly x: number; readonly y: number }[];
  }[];
}
