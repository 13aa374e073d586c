import type { Part } from '../../src/app/part.ts';

export const explain = { api: () => import('./src/api.ts') } satisfies Part;
