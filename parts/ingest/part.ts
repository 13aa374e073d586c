import type { Part } from '../../src/app/part.ts';
import { ingestRoutes } from './src/index.ts';
import { INGEST } from './src/settings.ts';

export const ingest = { settings: INGEST, routes: ingestRoutes } satisfies Part;
