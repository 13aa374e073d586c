import type { Part } from '../../src/app/part.ts';
import { push } from './src/push.ts';
import { pushMetrics } from './src/metrics.ts';

export const webPush = { jobs: [push], metrics: pushMetrics } satisfies Part;
