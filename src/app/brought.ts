import type { Brought } from '../config/read-config.ts';
import type { HostPart } from '../descriptors/host-parts.ts';
import type { DeclareMetrics } from '../telemetry/metrics.ts';
import { FEATURES } from './features.ts';
import { FEED_MODEL_NAMES } from './feed-models.ts';

/** Metrics of parts. */
export const METRICS: readonly DeclareMetrics[] = FEATURES.flatMap(({ metrics }) => metrics ?? []);

/** What parts have of the host's configuration. */
export const HOST_PARTS: readonly HostPart[] = FEATURES.flatMap(({ host }) => host ?? []);

/** What features and parts bring to the configuration. */
export const BROUGHT: Brought = {
  feedModels: FEED_MODEL_NAMES,
  settings: FEATURES.flatMap(({ settings }) => settings ?? []),
};
