import type { Part } from '../../src/app/part.ts';
import { ingestRoutes } from './src/index.ts';

export const ingest = { routes: ingestRoutes } satisfies Part;
