import { build } from 'hdr-histogram-js';

/** What became of the operations of one kind, in milliseconds. */
export interface LoadResult {
  readonly name: string;
  readonly count: number;
  readonly failed: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** The whole distribution in the text form of HdrHistogram. */
  readonly histogram: string;
}

const MICROSECONDS = 1_000;

/** Milliseconds of one kind of thing, kept to three significant digits from a microsecond to ten minutes. */
export class Latencies {
  readonly #name: string;
  readonly #histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 600_000_000,
    numberOfSignificantValueDigits: 3,
  });
  #failed = 0;

  constructor(name: string) {
    this.#name = name;
  }

  record(milliseconds: number): void {
    this.#histogram.recordValue(Math.max(1, Math.round(milliseconds * MICROSECONDS)));
  }

  fail(): void {
    this.#failed += 1;
  }

  result(): LoadResult {
    const at = (percentile: number): number =>
      this.#histogram.getValueAtPercentile(percentile) / MICROSECONDS;
    return {
      name: this.#name,
      count: this.#histogram.totalCount,
      failed: this.#failed,
      p50: at(50),
      p90: at(90),
      p99: at(99),
      p999: at(99.9),
      max: this.#histogram.maxValue / MICROSECONDS,
      histogram: this.#histogram.outputPercentileDistribution(5, MICROSECONDS),
    };
  }
}
