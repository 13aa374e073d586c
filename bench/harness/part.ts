import type { Environment } from './environment.ts';
import type { Options } from './options.ts';
import type { PartReport } from './report.ts';

/** What every part gets. */
export interface PartContext {
  readonly environment: Environment;
  readonly options: Options;
  /** Tells people how far it has come. */
  readonly say: (line: string) => void;
}

/** One part of the benchmark: starts what it needs, measures, and leaves nothing behind. */
export interface Part {
  readonly name: string;
  readonly run: (context: PartContext) => Promise<PartReport>;
}

/** The value for the size that is run. */
export function sized<T>({ size }: Options, values: Readonly<Record<Options['size'], T>>): T {
  return values[size];
}

/** How often each thing is measured, and how often before that for nothing. */
export function roundsOf(
  options: Options,
  fallback: Readonly<Record<Options['size'], readonly [rounds: number, warmUp: number]>>,
): { readonly rounds: number; readonly warmUp: number } {
  const [rounds, warmUp] = sized(options, fallback);
  return { rounds: options.rounds ?? rounds, warmUp };
}
