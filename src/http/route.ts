import type { Handler } from './exchange/respond.ts';
import type { HttpContext } from './http-context.ts';
import { once } from '../lib/once.ts';

/** A path of the server that a part answers. */
export interface Route {
  /** Such as /status. One that ends in a slash is the beginning of all paths below it. */
  readonly path: string;
  /** Loads what answers, with the first request to the path. The handler itself asks who the caller is (`enter`). */
  readonly load: (http: HttpContext) => Promise<Handler>;
}

/** Finds what answers a path; `undefined`: no route does. */
export function routeFinder(
  http: HttpContext,
  routes: readonly Route[],
): (path: string) => Handler | undefined {
  const exact = new Map<string, Handler>();
  const below: (readonly [start: string, handler: Handler])[] = [];
  for (const { path, load } of routes) {
    const loaded = once(() => load(http));
    const handler: Handler = async (req, res) => {
      const answer = await loaded();
      await answer(req, res);
    };
    if (path.endsWith('/')) below.push([path, handler]);
    else exact.set(path, handler);
  }
  return (path) => exact.get(path) ?? below.find(([start]) => path.startsWith(start))?.[1];
}
