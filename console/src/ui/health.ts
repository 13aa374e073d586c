import { labelsOf, readOf, type Read } from './metrics.ts';

export interface ProcessMetrics extends Read {
  /** How feeds are stored: `model` and `cap`. */
  readonly feedModel: ReadonlyMap<string, string>;
}

/** @throws Error that says why the metrics cannot be read from here */
export async function fetchMetrics(): Promise<ProcessMetrics> {
  const response = await fetch('/metrics', { cache: 'no-store' });
  if (response.status === 404) throw new Error('/metrics has a port of its own here (METRICS_PORT)');
  if (response.status === 401) throw new Error('/metrics needs a token of its own here (METRICS_TOKEN)');
  if (!response.ok) throw new Error(`/metrics answered ${String(response.status)}`);
  const text = await response.text();
  return { ...readOf(text), feedModel: labelsOf(text, 'fanfare_feed_model_info') };
}

/** What /ready says, the state first. Rejects when the server is away. */
export async function fetchReadiness(): Promise<string> {
  const response = await fetch('/ready', { cache: 'no-store' });
  const { status, checks = {} } = (await response.json()) as {
    readonly status: string;
    readonly checks?: Readonly<Record<string, unknown>>;
  };
  const parts = Object.entries(checks).map(
    ([name, state]) => `${name} ${typeof state === 'string' ? state : JSON.stringify(state)}`,
  );
  return [status, ...parts].join(', ');
}
