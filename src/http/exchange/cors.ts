import type { CORSOptions } from 'graphql-yoga';
import type { CorsOrigins } from '../../config/config.ts';

const METHODS = ['GET', 'POST', 'OPTIONS'];
const EXPOSED_HEADERS = [
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'WWW-Authenticate',
  'Fanfare-Reader',
];
const MAX_AGE_S = 3_600;

/**
 * Decides which pages of other origins may read answers. Nothing that a browser sends on its own identifies a caller, so
 * credentials are never allowed. Pages rendered by this server are not readable by scripts of other origins.
 */
export function corsFor(
  origins: CorsOrigins,
  refused: (origin: string) => void,
): (request: Request) => CORSOptions {
  const all = origins === '*';
  return (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || isForPage(request)) return false;
    if (!(all || isAllowed(origin, origins))) {
      // Browsers ask beforehand only for pages of another origin.
      if (request.method === 'OPTIONS') refused(origin);
      return false;
    }
    return {
      // Listed twice, because with a single origin Yoga would omit `Vary: Origin`.
      origin: all ? '*' : [origin, origin],
      credentials: false,
      methods: METHODS,
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: MAX_AGE_S,
    };
  };
}

type Headers = Readonly<Record<string, string>>;

const NO_HEADERS: Headers = {};

/** The headers that Yoga derives from these options for a POST from an origin, if any. */
export function corsHeaders(origins: CorsOrigins): (origin: string | undefined) => Headers {
  return (origin) => {
    if (origin === undefined || !(origins === '*' || isAllowed(origin, origins))) return NO_HEADERS;
    return {
      'access-control-allow-origin': origin,
      vary: 'Origin',
      'access-control-allow-methods': METHODS.join(', '),
      'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
      'access-control-max-age': String(MAX_AGE_S),
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
