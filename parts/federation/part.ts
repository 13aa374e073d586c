import type { Part } from '../../src/app/part.ts';
import { subgraphSchema } from './src/index.ts';

export const federation = { schema: subgraphSchema } satisfies Part;
