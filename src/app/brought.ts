import type { Brought } from '../config/read-config.ts';
import { FEATURES } from './features.ts';
import { FEED_MODEL_NAMES } from './feed-models.ts';

/** What features and parts bring to the configuration. */
export const BROUGHT: Brought = {
  feedModels: FEED_MODEL_NAMES,
  settings: FEATURES.flatMap(({ settings }) => settings ?? []),
};
