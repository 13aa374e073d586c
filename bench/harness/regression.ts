/** A straight line through measurements. */
export interface Line {
  /** By which y changes as x rises by one. */
  readonly slope: number;
  /** Of the slope, with neighbours that resemble each other counted as fewer. */
  readonly standardError: number;
  readonly mean: number;
  readonly count: number;
}

const FEWEST = 4;

/**
 * Least squares. What is measured one after the other on one process is not independent: the error is widened by the
 * correlation of each residual with the one before, as for an autoregressive series of the first order.
 * @throws Error with fewer than four points
 */
export function fitLine(points: readonly { readonly x: number; readonly y: number }[]): Line {
  const count = points.length;
  if (count < FEWEST) throw new Error(`${String(count)} measurements make no trend`);
  const meanX = mean(points.map(({ x }) => x));
  const meanY = mean(points.map(({ y }) => y));
  const spread = sum(points.map(({ x }) => (x - meanX) ** 2));
  const slope = sum(points.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread;
  const residuals = points.map(({ x, y }) => y - meanY - slope * (x - meanX));
  const squares = sum(residuals.map((residual) => residual ** 2));
  const neighbours = sum(residuals.slice(1).map((residual, index) => residual * (residuals[index] ?? 0)));
  const correlation = squares === 0 ? 0 : Math.min(0.95, Math.max(0, neighbours / squares));
  return {
    slope,
    standardError: Math.sqrt((squares / (count - 2) / spread) * ((1 + correlation) / (1 - correlation))),
    mean: meanY,
    count,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}
