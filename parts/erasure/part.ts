import type { Part } from '../../src/app/part.ts';
import { erasure as erasures } from './src/jobs/erasure.ts';

export const erasure = { jobs: [erasures], api: () => import('./src/api.ts') } satisfies Part;
