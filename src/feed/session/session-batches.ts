import type { Core } from '../../core/core.ts';
import { SharedLoads } from '../../lib/shared-loads.ts';
import type { ReaderSession } from './reader-session.ts';

const MAX_BATCH = 100;

/**
 * Loads of one session that need more than an id, or more than a repository. What is asked for in one turn of the event loop
 * is loaded together, at most a hundred at once and each key once; a session belongs to one core. Caches nothing.
 * @param load returns the values in the order of the keys.
 * @param nameOf keys with equal names are equal
 */
export function sessionBatches<K, V>(
  load: (core: Core, session: ReaderSession, keys: readonly K[]) => Promise<readonly V[]>,
  nameOf: (key: K) => string,
): (core: Core, session: ReaderSession, key: K) => Promise<V> {
  const loaders = new WeakMap<ReaderSession, SharedLoads<K, { readonly value: V }>>();
  return async (core, session, key) => {
    let loader = loaders.get(session);
    if (loader === undefined) {
      loader = new SharedLoads({
        async load(keys: readonly K[]) {
          session.reading.check();
          const values = await load(core, session, keys);
          return new Map(values.map((value, index) => [nameOf(keys[index] as K), { value }]));
        },
        nameOf,
        maxBatch: MAX_BATCH,
      });
      loaders.set(session, loader);
    }
    const found = await loader.load(key);
    if (found === null) throw new Error('A batch has fewer values than keys');
    return found.value;
  };
}
