import type { CORSOptions } from 'graphql-yoga';
import type { CorsOrigins } from '../../config/config.ts';

/**
 * Which pages of other origins browsers let read answers. Nobody is recognised by what a browser sends on its own, so
 * credentials are never allowed. Pages that this server renders are for nobody else's scripts.
 */
export function corsFor(origins: CorsOrigins): (request: Request) => CORSOptions {
  const all = origins === '*';
  return (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || isForPage(request) || !(all || isAllowed(origin, origins))) return false;
    return {
      // Twice, or Yoga would not say that the answer varies by origin.
      origin: all ? '*' : [origin, origin],
      credentials: false,
      methods: ['GET', 'POST', 'OPTIONS'],
      exposedHeaders: ['Retry-After', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate'],
      maxAge: 3_600,
    };
  };
}

function isForPage(request: Request): boolean {
  return request.method === 'GET' && request.headers.get('accept')?.includes('text/html') === true;
}

function isAllowed(origin: string, origins: Exclude<CorsOrigins, '*'>): boolean {
  return origins === 'loopback' ? isLoopbackOrigin(origin) : origins.includes(origin);
}

function isLoopbackOrigin(origin: string): boolean {
  return /^https?:/.test(origin) && URL.canParse(origin) && isLoopbackName(new URL(origin).hostname);
}

export function isLoopbackName(name: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(name);
}
