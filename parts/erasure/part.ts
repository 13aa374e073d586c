import type { Part } from '../../src/app/part.ts';
import { erasure as erasures } from './src/jobs/erasure.ts';
import { erasureMetrics } from './src/metrics.ts';

export const erasure = {
  jobs: [erasures],
  metrics: erasureMetrics,
  api: () => import('./src/api.ts'),
} satisfies Part;
