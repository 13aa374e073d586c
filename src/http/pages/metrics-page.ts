import { createHash, timingSafeEqual } from 'node:crypto';
import { send, sendJson, type Handler } from '../exchange/respond.ts';

export interface MetricsPageOptions {
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> };
  /** Token that scrapers must send as `authorization: Bearer …`; absent: none. */
  readonly token?: string | undefined;
}

/** How long a page is reused, in milliseconds. Scrapers ask every few seconds. */
const MAX_AGE_MS = 1_000;

/** Serves the Prometheus page; computes it at most once a second, one at a time, for all requests. */
export function createMetricsPage({ metrics, token }: MetricsPageOptions): Handler {
  const page = cached(() => metrics.metrics(), MAX_AGE_MS);
  return async (req, res) => {
    if (token !== undefined && !isToken(req.headers.authorization, token)) {
      const headers = { 'www-authenticate': 'Bearer realm="fanfare metrics"' };
      sendJson(res, 401, { error: 'This requires METRICS_TOKEN: authorization: Bearer <token>' }, headers);
      return;
    }
    const text = await page();
    send(res, 200, text, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
  };
}

function cached<T>(make: () => Promise<T>, maxAgeMs: number): () => Promise<T> {
  let made: Promise<T> | null = null;
  let expiresAt = Infinity;
  return () => {
    if (made !== null && performance.now() < expiresAt) return made;
    expiresAt = Infinity;
    made = make();
    made.then(
      () => {
        expiresAt = performance.now() + maxAgeMs;
      },
      () => {
        made = null;
      },
    );
    return made;
  };
}

/** Compares hashes, so that the timing reveals nothing about the token. */
function isToken(authorization: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return given !== undefined && timingSafeEqual(hash(given), hash(token));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
