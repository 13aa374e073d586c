// What is used of the package, so that the types of the project can be checked without it being installed.
declare module 'hdr-histogram-js' {
  export interface Histogram {
    readonly totalCount: number;
    readonly maxValue: number;
    recordValue(value: number): void;
    getValueAtPercentile(percentile: number): number;
    outputPercentileDistribution(ticksPerHalfDistance?: number, unitRatio?: number): string;
  }
  export function build(options: {
    readonly lowestDiscernibleValue: number;
    readonly highestTrackableValue: number;
    readonly numberOfSignificantValueDigits: 1 | 2 | 3 | 4 | 5;
  }): Histogram;
}
