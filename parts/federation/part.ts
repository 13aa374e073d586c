import type { Part } from '../../src/app/part.ts';
import { subgraphSchema } from './src/index.ts';
import { FEDERATION } from './src/settings.ts';

export const federation = { settings: FEDERATION, schema: subgraphSchema } satisfies Part;
