import type { Config } from '../../../src/config/config.ts';
import type { Route } from '../../../src/http/route.ts';
import { INGEST } from './settings.ts';

/** `POST /ingest`. */
export function ingestRoutes(config: Config): readonly Route[] {
  if (!config.of(INGEST)) return [];
  return [{ path: '/ingest', load: async (of) => (await import('./ingest.ts')).createIngest(of) }];
}
