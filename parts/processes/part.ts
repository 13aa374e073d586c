import type { Part } from '../../src/app/part.ts';

export const processes = { processes: () => import('./src/index.ts') } satisfies Part;
