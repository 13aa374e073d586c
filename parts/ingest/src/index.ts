import type { Config } from '../../../src/config/config.ts';
import type { Route } from '../../../src/http/route.ts';

/** `POST /ingest`. */
export function ingestRoutes({ http }: Config): readonly Route[] {
  if (!http.ingest) return [];
  return [{ path: '/ingest', load: async (of) => (await import('./ingest.ts')).createIngest(of) }];
}
