import { createHook } from 'node:async_hooks';

/** Timers that were set since and neither fired for good nor were cleared, those included that keep no process alive. */
export interface LiveTimers extends Disposable {
  /** Where they were set, one stack trace for each. */
  places(): string[];
}

/**
 * Set by Node for all its servers, by the server for the pings of all its sockets, by the driver of the database for its
 * connections, and by the test itself.
 */
const OTHERS = /node:internal\/http:|SocketServer\.#ping|\/node_modules\/mongodb\/|\/vitest\//;

/** Begins to count the timers of this process that serve its clients. */
export function countTimers(): LiveTimers {
  const live = new Map<number, { readonly stack?: string }>();
  const hook = createHook({
    init(asyncId, type) {
      if (type !== 'Timeout') return;
      const place: { readonly stack?: string } = {};
      Error.captureStackTrace(place);
      if (!OTHERS.test(place.stack ?? '')) live.set(asyncId, place);
    },
    destroy(asyncId) {
      live.delete(asyncId);
    },
  }).enable();
  return {
    places: () => [...live.values()].map(({ stack = '' }) => stack),
    [Symbol.dispose]() {
      hook.disable();
    },
  };
}
