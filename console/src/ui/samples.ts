import { useCallback, useSyncExternalStore } from 'react';
import { fetchMetrics } from './health.ts';
import type { Sample } from './metrics.ts';
import { useEvery } from './use-every.ts';

export const SAMPLE_EVERY_MS = 5_000;
const KEPT_MS = 3_600_000;

export interface Sampled {
  /**
   * The oldest first. Kept as long as the page: /metrics has no past. The one place that knows where they come from, until the
   * server keeps those of the last hour itself.
   */
  readonly samples: readonly Sample[];
  readonly feedModel: ReadonlyMap<string, string>;
  /** Why the last one could not be had. */
  readonly failure: string | null;
}

let current: Sampled = { samples: [], feedModel: new Map(), failure: null };
const listeners = new Set<() => void>();

async function sample(): Promise<void> {
  try {
    const { sums, lags, feedModel } = await fetchMetrics();
    // The time of day, by a clock that is not set meanwhile: rates are computed from it.
    const at = Math.round(performance.timeOrigin + performance.now());
    const samples = [...current.samples.filter((one) => one.at > at - KEPT_MS), { at, sums, lags }];
    current = { samples, feedModel, failure: null };
  } catch (error) {
    current = { ...current, failure: error instanceof Error ? error.message : String(error) };
  }
  for (const listener of listeners) listener();
}

/** Takes samples while the page is seen, whatever screen it shows. @param isShown whether to go on where none can be had */
export function Sampling({ isShown }: { readonly isShown: boolean }): null {
  useEvery(SAMPLE_EVERY_MS, () => {
    if (current.failure === null || isShown) void sample();
  });
  return null;
}

export function useSamples(): Sampled & { readonly look: () => void } {
  const sampled = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    () => current,
  );
  return { ...sampled, look: useCallback(() => void sample(), []) };
}
