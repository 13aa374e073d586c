import type { Part } from '../../src/app/part.ts';
import { PROCESSES } from './src/settings.ts';

export const processes = { settings: PROCESSES, processes: () => import('./src/index.ts') } satisfies Part;
