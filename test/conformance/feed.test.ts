import { FEED_MODEL_NAMES } from '../../src/feeds/registry.ts';
import { feedConformance } from './feed.conformance.ts';

for (const model of FEED_MODEL_NAMES)
  // Nothing is stored by `pull`, however much may be.
  for (const cap of model === 'pull' ? [1_000] : [1_000, 3]) feedConformance(model, cap);
